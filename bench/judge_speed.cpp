#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "assay/conformance/judge/prepared_case.hpp"
#include "assay/conformance/operators/flash_attention_score_grad.hpp"
#include "assay/conformance/report/sentences.hpp"
#include "assay/optimized/flash_attention_score_grad.hpp"
#include "benchmarks.hpp"

namespace assay::bench {
namespace {

using Op = spec::FlashAttentionScoreGrad;

conformance::Case<Op> case_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return conformance::parse_case<Op>(words);
}

struct Kind {
  std::string name, line;
};

const Kind kinds[] = {
    {"bound, small",
     "--dtype=bf16 --heads_q=4 --heads_kv=2 --seq_q=33 --seq_kv=48 --head_dim=32 "
     "--head_dim_v=32 --scale_value=0.125"},
    {"bound, medium",
     "--dtype=fp16 --heads_q=2 --heads_kv=2 --seq_q=256 --seq_kv=256 --head_dim=64 "
     "--head_dim_v=64 --scale_value=0.125 --rows=32"},
    {"exact_case",
     "--dtype=bf16 --heads_q=2 --heads_kv=1 --seq_q=64 --seq_kv=80 --head_dim=32 "
     "--head_dim_v=32 --scale_value=0.125 --track=exact"},
};

}  // namespace

void judge_speed(Recorder& recorder, std::size_t runs) {
  const auto implementation = optimized::flash_attention_score_grad(device::a2());
  for (const Kind& kind : kinds) {
    const auto c = case_of(kind.line);
    const auto judge = [&] {
      const auto report = conformance::judge_case(c, *implementation);
      // The judge stops a failing case early. Such a case would make the measured time too short,
      // so it is an error here.
      if (report.verdict != conformance::Verdict::conforms)
        throw std::runtime_error(
            "judge: the case '" + kind.line + "' ended as " +
            std::string(spec::to_string(report.verdict.value())) + "; expected conforms" +
            (report.findings.empty() ? "" : ": " + sentence_of(report.findings[0], report)));
    };
    const auto seconds = measure_in_turns({judge}, runs);
    recorder.host_rate({"judge", kind.name}, {"cases", "1/s"}, 1.0, seconds[0]);
  }
}

}  // namespace assay::bench
