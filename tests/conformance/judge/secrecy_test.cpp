#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>
#include <vector>

#include "assay/conformance/judge/case_in_steps.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/operators/nsa_compress_grad.hpp"
#include "assay/conformance/operators/nsa_selected_attention_grad.hpp"
#include "assay/parallel/loop.hpp"

namespace assay::conformance {
namespace {

/// Machine words of the reference values, stored with every bit inverted. The search in memory
/// looks for the original words, so it does not find this copy.
struct Inverted {
  static constexpr std::size_t count = 8;
  std::array<std::uint64_t, count> words{};
  std::size_t stride = 0;  ///< bytes from one word to the next

  bool is_at(const char* bytes) const {
    for (std::size_t k = 0; k < count; ++k) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes + k * stride, sizeof word);
      if (word != ~words[k]) return false;
    }
    return true;
  }
};

/// Returns whether the machine words occur anywhere in the writable memory of this process.
bool is_in_memory(const Inverted& wanted) {
  std::ifstream maps("/proc/self/maps");
  std::ifstream memory("/proc/self/mem", std::ios::binary);
  const std::size_t length = wanted.stride * (Inverted::count - 1) + sizeof(std::uint64_t);
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uint64_t first = 0, last = 0;
    char dash = 0;
    std::string rights;
    words >> std::hex >> first >> dash >> last >> rights;
    if (rights.substr(0, 2) != "rw") continue;
    std::vector<char> bytes(last - first);
    memory.clear();
    memory.seekg(static_cast<std::streamoff>(first));
    memory.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto read = static_cast<std::size_t>(memory.gcount());
    for (std::size_t at = 0; at + length <= read; at += sizeof(std::uint64_t))
      if (wanted.is_at(bytes.data() + at)) return true;
  }
  return false;
}

/// Returns eight consecutive machine words, most of them different. Other memory does not contain
/// such a pattern by accident.
template <class Values, class WordOf>
Inverted words_of(const Values& values, const WordOf& word_of) {
  for (std::size_t first = 0; first + Inverted::count <= values.size(); ++first) {
    Inverted result{.words = {}, .stride = sizeof(values[0])};
    std::set<std::uint64_t> different;
    for (std::size_t k = 0; k < Inverted::count; ++k) {
      const std::uint64_t word = word_of(values[first + k]);
      different.insert(word);
      result.words[k] = ~word;
    }
    if (different.size() > Inverted::count / 2) return result;
  }
  throw std::logic_error("no eight values in a row differ");
}

/// Returns machine words of the reference values for the first output of the case, with every bit
/// inverted.
template <class Op>
Inverted reference_of(const Case<Op>& c, const spec::Numerics& numerics) {
  if (c.track == Track::bound) {
    const auto expected = PreparedCase<Op>(c).expected(numerics);
    return words_of(expected.front().value,
                    [](double value) { return std::bit_cast<std::uint64_t>(value); });
  }
  const auto exact = Suite<Op>::exact(c, numerics, ExactPart::all);
  const auto tensors = Suite<Op>::exact_tensors(exact, c.problem);
  return words_of(tensors.front().exact,
                  [](Dyadic value) { return static_cast<std::uint64_t>(value.numerator); });
}

/// Computes machine words of the reference values in a child process, and returns them with every
/// bit inverted. So if this process contains the original words, the judge has written them.
template <class Op>
Inverted known_elsewhere(const Case<Op>& c, const spec::Numerics& numerics) {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    try {
      const parallel::Alone alone;  // the worker threads are not in this process
      const Inverted found = reference_of(c, numerics);
      ::_exit(::write(pipe[1], &found, sizeof found) == sizeof found ? 0 : 1);
    } catch (const std::exception& failure) {
      std::cerr << failure.what() << std::endl;
      ::_exit(2);
    }
  }
  ::close(pipe[1]);
  Inverted result;
  int status = 1;
  const auto read = ::read(pipe[0], &result, sizeof result);
  ::waitpid(child, &status, 0);
  ::close(pipe[0]);
  if (read != sizeof result || status != 0) throw std::runtime_error("no reference");
  return result;
}

/// A kernel that searches the judge's memory for the reference in every run.
template <class Op>
class Looking final : public spec::Implementation<Op> {
 public:
  explicit Looking(const Inverted& wanted) : wanted_(wanted) {}
  std::string name() const override { return "looking"; }
  spec::Numerics numerics(const typename Op::Problem& problem) const override {
    return {.stage = problem.dtype, .order = spec::Order::fixed};
  }
  void run(const typename Op::Problem&, const typename Op::Inputs&,
           typename Op::Outputs&) override {
    found.push_back(is_in_memory(wanted_));
  }
  std::vector<bool> found;

 private:
  const Inverted& wanted_;
};

template <class Op>
void reference_comes_after_the_calls(typename Op::Problem problem) {
  for (const Track track : {Track::bound, Track::exact, Track::exact_staged}) {
    problem.dtype = spec::DType::fp16;
    Case<Op> c{.problem = problem};
    c.track = track;
    const spec::Numerics numerics{.stage = problem.dtype, .order = spec::Order::fixed};
    const Inverted wanted = known_elsewhere(c, numerics);
    Looking<Op> kernel(wanted);
    PreparedCase<Op> prepared(c);
    prepared.prepare(numerics);
    CaseInSteps<Op> steps(prepared);
    steps.call(kernel);
    EXPECT_EQ(kernel.found, (std::vector<bool>{false, false})) << command_line(c);
    EXPECT_FALSE(is_in_memory(wanted)) << command_line(c);
    steps.judge();
    EXPECT_TRUE(is_in_memory(wanted))
        << "the search must find the reference itself: " << command_line(c);
  }
}

TEST(Secrecy, AttentionReferenceIsComputedAfterTheLastCall) {
  using Op = spec::FlashAttentionScoreGrad;
  Op::Problem p{.seq_q = 24, .seq_kv = 24, .head_dim = 16};
  p.head_dim_v = 16;
  p.scale_value = 0.125;
  reference_comes_after_the_calls<Op>(p);
}

TEST(Secrecy, SelectedAttentionReferenceIsComputedAfterTheLastCall) {
  using Op = spec::NsaSelectedAttentionGrad;
  Op::Problem p{.seq_q = 8};
  p.selected_block_size = 16;
  p.selected_block_count = 2;
  p.seq_kv = 64;
  reference_comes_after_the_calls<Op>(p);
}

TEST(Secrecy, CompressionReferenceIsComputedAfterTheLastCall) {
  using Op = spec::NsaCompressGrad;
  reference_comes_after_the_calls<Op>({.heads = 1, .seq = 128, .head_dim = 16});
}

}  // namespace
}  // namespace assay::conformance
