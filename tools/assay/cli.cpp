#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "assay/cli/main.hpp"
#include "assay/conformance/case/shell_word.hpp"
#include "assay/conformance/report/results.hpp"
#include "assay/conformance/result/printable.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/fixtures/foreign.hpp"
#include "build_facts.hpp"
#include "flags/choose.hpp"
#include "grammar.hpp"
#include "printing/coloured.hpp"
#include "signals.hpp"

namespace assay::cli {
namespace {

/// True while a command runs, that is, until its exit code is known.
std::atomic<bool> is_at_work = false;

/// Runs at exit. A kernel that runs in this process may call exit(). The exit code must then not
/// look like a verdict.
extern "C" void refuse_exit() {
  if (!is_at_work) return;
  constexpr std::string_view message =
      "\nassay: the implementation ended this process, so no report was written. Without "
      "--in-process such an exit is only the verdict of one case\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
  _exit(static_cast<int>(ExitCode::not_conclusive));
}

/// Reserved memory, which this program frees when all other memory is used up. The error handling
/// needs it then: for example, the destructor of a JSON value allocates memory.
std::atomic<void*> reserve = nullptr;

void give_up_reserve() {
  std::free(reserve.exchange(nullptr));
  throw std::bad_alloc();
}

/// The terminate handler that end_without_memory replaces. A destructor (for example of a JSON
/// value) may fail to allocate memory. The process must then end with the exit code and message for
/// "out of memory".
std::terminate_handler end_otherwise = nullptr;

void end_without_memory() {
  try {
    if (const std::exception_ptr escaped = std::current_exception())
      std::rethrow_exception(escaped);
  } catch (const std::bad_alloc&) {
    constexpr std::string_view message = "assay: there is not enough memory\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, message.data(), message.size());
    _exit(static_cast<int>(ExitCode::not_conclusive));
  } catch (...) {
  }
  end_otherwise();
}

/// Allocates the memory reserve. Returns false if the allocation fails.
bool keep_reserve() {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  reserve = std::malloc(bytes);
  std::set_new_handler(give_up_reserve);
  end_otherwise = std::set_terminate(end_without_memory);
  return reserve != nullptr;
}

ExitCode refuse_for_memory(std::ostream& err) {
  err << "assay: there is not enough memory\n";
  return ExitCode::not_conclusive;
}

/// Makes the allocator return the freed memory of large tensors to the system. By default glibc
/// keeps hundreds of MiB, because several threads of a sweep allocate large tensors. Keeps up to
/// 128 MiB of smaller blocks, such as compressed masks: the next case needs them again, and new
/// pages cost time.
void return_large_blocks() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 2);
  mallopt(M_MMAP_THRESHOLD, 8 << 20);
  mallopt(M_TRIM_THRESHOLD, 128 << 20);
  mallopt(M_TOP_PAD, 512 << 10);
#endif
}

/// Returns the file name of this program without its folder.
std::string program_name(int argc, char** argv) {
  const std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "";
  return name.empty() ? "assay" : name;
}

/// Returns the command by which the user called this program, quoted for a shell. A relative path
/// becomes absolute, so that users can run the printed commands in any folder.
std::string typed_program(int argc, char** argv) {
  if (argc == 0 || *argv[0] == '\0') return "assay";
  const std::filesystem::path typed = argv[0];
  return conformance::shell_word(
      typed.has_parent_path() ? std::filesystem::absolute(typed).lexically_normal() : typed);
}

/// Returns the text of the error. The text is shortened and escaped, because it may come from a
/// kernel.
std::string message_of(const std::exception& error) {
  return conformance::excerpt(error.what(), 1 << 16);
}

}  // namespace

ExitCode execute(const std::vector<std::string>& words, const Context& context) {
  try {
    return dispatch(words, context);
  } catch (const UsageError& error) {
    context.err << "assay: " << message_of(error) << '\n';
    return ExitCode::usage;
  } catch (const std::bad_alloc&) {
    return refuse_for_memory(context.err);
  } catch (const std::exception& error) {
    context.err << "assay: " << message_of(error) << '\n';
    return ExitCode::not_conclusive;
  }
}

std::string version_line() {
  const BuildFacts facts = build_facts();
  return fmt::format("assay {}, {}, cases in schema {}, reports in schema {}", facts.version,
                     facts.compiler, fixtures::schema, conformance::report_schema);
}

int main(int argc, char** argv, const Registry& registry) {
  return_large_blocks();
  fixtures::restart_as_reader({worker_command_name, reading_word});
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  const bool is_worker = !words.empty() && words.front() == worker_command_name;
  fail_writes_beyond_limits();
  std::string line;
  for (int k = 0; k < argc; ++k) line += (k == 0 ? "" : " ") + std::string(argv[k]);
  std::optional<ColouredLines> colours;
  if (wants_colour(isatty(STDOUT_FILENO) == 1)) colours.emplace(std::cout);
  std::ostream out(colours ? static_cast<std::streambuf*>(&*colours) : std::cout.rdbuf());
  const Context context{.registry = registry,
                        .out = out,
                        .err = std::cerr,
                        .stop = stop_requested(),
                        .terminal = isatty(STDERR_FILENO) == 1,
                        .command_line = line,
                        .program = program_name(argc, argv),
                        .typed = typed_program(argc, argv),
                        .entropy = [] { return std::uint64_t{std::random_device()()}; }};
  if (!keep_reserve()) return static_cast<int>(refuse_for_memory(std::cerr));
  std::atexit(refuse_exit);
  std::at_quick_exit(refuse_exit);
  is_at_work = !is_worker;  // in a worker, exit() is reported by the judge
  const ExitCode code = execute(words, context);
  is_at_work = false;
  out.flush();
  std::cout.flush();
  if (!out || !std::cout) {
    std::cerr << "assay: cannot write to standard output\n";
    return static_cast<int>(ExitCode::not_conclusive);
  }
  return static_cast<int>(code);
}

}  // namespace assay::cli
