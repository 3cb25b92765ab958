// A hostile program for the adapter "command:", usage: program [FILE]. It computes like the naive
// example kernel. In cases with two batches it performs the hostile action in the environment
// variable HOSTILE.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "acts.hpp"
#include "assay/adapters/plugin.hpp"
#include "assay/conformance/case/case.hpp"
#include "assay/conformance/operators.hpp"
#include "assay/fixtures/file.hpp"
#include "assay/fixtures/named.hpp"
#include "build_paths.hpp"

namespace {

using namespace assay;
using Op = spec::FlashAttentionScoreGrad;

std::string text_of(const fixtures::Field& field) {
  if (const auto* number = std::get_if<std::int64_t>(&field)) return std::to_string(*number);
  if (const auto* word = std::get_if<std::string>(&field)) return *word;
  return std::to_string(std::get<double>(field));
}

/// Returns the problem of a case record, without its arrays in host memory.
Op::Problem problem_of(const fixtures::CaseRecord& record) {
  std::vector<std::string> words;
  for (const auto& [name, field] : record.problem)
    if (!std::holds_alternative<std::vector<std::int64_t>>(field) && !text_of(field).empty())
      words.push_back("--" + name + "=" + text_of(field));
  return conformance::parse_case<Op>(words).problem;
}

Op::Inputs inputs_of(const fixtures::CaseRecord& record) {
  Op::Inputs inputs;
  visit_fields(inputs, [&](std::string_view name, auto& member) {
    for (const auto& [given, tensor] : record.inputs)
      if (given == name) member = tensor;
  });
  return inputs;
}

fixtures::CaseRecord record_in(const std::string& path) {
  const fixtures::Reader reader(path);
  return reader.ids().empty() ? fixtures::CaseRecord() : reader.read(reader.ids().front());
}

void write(fixtures::CaseRecord record, const std::string& path,
           const std::vector<fixtures::NamedTensor>& outputs) {
  record.actual["naive"].outputs = outputs;
  fixtures::Writer writer(path);
  writer.write(record);
  writer.close(fixtures::Durability::renamed);
}

std::vector<fixtures::NamedTensor> computed(const fixtures::CaseRecord& record) {
  const Op::Problem problem = problem_of(record);
  const Op::Inputs inputs = inputs_of(record);
  Op::Outputs outputs;
  for (auto [to, like] : {std::pair{&outputs.dq, &inputs.query},
                          {&outputs.dk, &inputs.key},
                          {&outputs.dv, &inputs.value}})
    *to = spec::contiguous_tensor(like->dtype, like->shape);
  adapters::open_plugin<Op>(tests::naive_plugin())->run(problem, inputs, outputs);
  return fixtures::named_tensors(outputs);
}

/// Damages the case file instead of answering. Returns false if `manner` is not one of these
/// actions.
bool spoil(const std::string& manner, const std::string& path, fixtures::CaseRecord record) {
  if (manner == "removes the file") return std::filesystem::remove(path);
  if (manner == "removes the folder of the file")
    return std::filesystem::remove_all(std::filesystem::path(path).parent_path()) > 0;
  if (manner == "empties the file") std::ofstream{path};
  if (manner == "writes letters into the file")
    std::ofstream(path, std::ios::in | std::ios::out) << std::string(4096, 'x');
  if (manner == "cuts the file") std::filesystem::resize_file(path, 700);
  if (manner == "puts a folder in the file's place") {
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
  }
  if (manner == "puts a pipe in the file's place") {
    std::filesystem::remove(path);
    mkfifo(path.c_str(), 0600);
  }
  if (manner == "writes two implementations") {
    record.actual["other"].outputs = computed(record);
    write(record, path, computed(record));
  }
  if (manner == "writes an output of another shape") {
    auto outputs = computed(record);
    outputs[0].tensor = spec::contiguous_tensor(spec::DType::fp32, {3});
    write(record, path, outputs);
  }
  if (manner == "writes an output that nobody knows") {
    auto outputs = computed(record);
    outputs[0].name = "dx";
    write(record, path, outputs);
  }
  if (manner == "writes into an input") {
    const auto outputs = computed(record);
    for (auto& [name, tensor] : record.inputs)
      if (name == "key") tensor.store(1, 77);
    write(record, path, outputs);
  }
  if (manner == "writes outputs that are wrong") {
    auto outputs = computed(record);
    outputs[0].tensor.store(0, 77);
    write(record, path, outputs);
  }
  return manner.find(" the file") != std::string::npos || manner.starts_with("writes ");
}

/// Returns the text that the program prints instead of `done`. If the text is empty, the program
/// prints `done`.
std::string said_instead(const std::string& manner) {
  if (manner == "says something else") return "well done\n";
  if (manner == "says two things") return "done\ndone\n";
  if (manner == "says half a line more") return "done\nand";
  if (manner == "says control characters") return "\x1b[2J\x07\x1b]0;title\x07\n";
  if (manner == "says a line without end") return std::string(1 << 17, 'a');
  if (manner == "says that it failed") return "error: no\n";
  if (manner == "refuses by an odd number") return "rejected: 99999999999999999999 no\n";
  return {};
}

[[noreturn]] void talk_without_end() {
  while (true) std::cout << "still at work" << std::endl;
}

/// Computes the outputs in the file. Returns false if the file contains no case.
bool work_on(const std::string& path) {
  const fixtures::CaseRecord record = record_in(path);
  if (record.id.empty()) return false;
  const std::string manner = hostile::manner();
  const bool is_hostile = problem_of(record).batch == 2;
  if (is_hostile && manner == "talks without end") talk_without_end();
  if (is_hostile && manner == "ends without an answer") std::exit(0);
  if (is_hostile && manner == "closes its output and stays") {
    close(STDOUT_FILENO);
    pause();
  }
  if (is_hostile && spoil(manner, path, record)) return true;
  if (is_hostile) hostile::act(manner);
  write(record, path, computed(record));
  return true;
}

bool ends_after_its_answer(const std::string& manner) {
  return manner.ends_with("after its answer");
}

void end(const std::string& manner) {
  if (manner.starts_with("ends with 0")) _exit(0);
  if (manner.starts_with("ends with 3")) _exit(3);
  // Waits until the judge has written the next query, which this program never reads.
  if (manner.starts_with("is killed late")) usleep(300'000);
  raise(SIGKILL);
}

int converse() {
  for (std::string path; std::getline(std::cin, path);) {
    const bool worked = work_on(path);
    const std::string other = worked ? said_instead(hostile::manner()) : "";
    const bool ends = worked && ends_after_its_answer(hostile::manner());
    const bool is_hostile = (ends || !other.empty()) && problem_of(record_in(path)).batch == 2;
    std::cout << (is_hostile && !ends ? other
                  : worked            ? "done\n"
                                      : "numerics: fp32_staging,order=fixed\n")
              << std::flush;
    if (is_hostile && ends) end(hostile::manner());
  }
  if (hostile::manner() == "stays after its input") pause();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return converse();
  work_on(argv[1]);
  return 0;
}
