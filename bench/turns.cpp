#include <chrono>
#include <ctime>
#include <map>
#include <sstream>
#include <stdexcept>

#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "benchmarks.hpp"
#include "shapes.hpp"

namespace assay::bench {
namespace {

using Op = spec::FlashAttentionScoreGrad;

/// A problem and its tensors. The constructor makes the tensors once, and all runs use them.
struct Ready {
  explicit Ready(const Op::Problem& wanted)
      : problem(wanted),
        inputs(conformance::make_inputs(conformance::Case<Op>{.problem = wanted})),
        outputs(conformance::make_outputs(conformance::Case<Op>{.problem = wanted})) {}

  Op::Problem problem;
  Op::Inputs inputs;
  Op::Outputs outputs;
};

template <class Enum>
Enum word(std::istream& line) {
  std::string text;
  line >> text;
  if (const auto value = spec::spellings_of<Enum>.parse(text)) return *value;
  throw std::invalid_argument("the input line has an unknown word '" + text + "'");
}

class Turns {
 public:
  /// Parses a line such as "bf16 causal avx512_bf16 THREADS HEADS TOKENS CHANNELS", runs the
  /// gradient once, and returns the wall seconds and the processor seconds.
  std::string take(const std::string& line) {
    std::istringstream words(line);
    const auto dtype = word<spec::DType>(words);
    std::string mask;
    words >> mask;
    const auto host = word<optimized::HostMode>(words);
    int threads = 0;
    std::int64_t heads = 0, tokens = 0, channels = 0;
    if (!(words >> threads >> heads >> tokens >> channels))
      throw std::invalid_argument("wrong input line '" + line + "'");
    auto& implementation = implementations_[{host, threads}];
    if (implementation == nullptr)
      implementation =
          optimized::flash_attention_score_grad(device::a2(), {.threads = threads, .host = host});
    const Op::Problem p = long_shape(dtype, mask == "causal", {heads, tokens, channels});
    Ready& ready = ready_.try_emplace(name_of(p), p).first->second;
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t processors = std::clock();
    implementation->run(ready.problem, ready.inputs, ready.outputs);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const double busy = static_cast<double>(std::clock() - processors) / CLOCKS_PER_SEC;
    return std::to_string(wall.count()) + ' ' + std::to_string(busy);
  }

 private:
  std::map<std::pair<optimized::HostMode, int>, std::unique_ptr<spec::Implementation<Op>>>
      implementations_;
  std::map<std::string, Ready> ready_;
};

}  // namespace

void take_turns(std::istream& in, std::ostream& out) {
  Turns turns;
  for (std::string line; std::getline(in, line);) out << turns.take(line) << std::endl;
}

}  // namespace assay::bench
