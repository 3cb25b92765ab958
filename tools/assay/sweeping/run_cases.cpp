#include "sweeping/run_cases.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include "sweeping/turns.hpp"

namespace assay::cli {
namespace {

/// Returns freed memory to the system before a large case needs it.
void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class CaseRun {
 public:
  CaseRun(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
          const std::function<bool(const std::string& id)>& is_finished, bool in_process,
          SlowCasePrinter& slow, const Context& context)
      : parts_(parts),
        order_(order),
        sweep_(sweep),
        slow_(slow),
        context_(context),
        in_process_(in_process),
        weights_(weights_of(parts, order)),
        turns_(
            weights_, in_process ? 0 : worker_count(),
            [this, &is_finished](std::size_t turn) {
              if (!is_finished(id(turn))) part(turn).prepare(order_[turn].place);
            },
            [this](std::size_t turn) { part(turn).judge(order_[turn].place); }) {}

  void run() {
    std::size_t turn = 0;
    for (; turn < order_.size(); ++turn) {
      if (!turns_.has_room(turn)) conclude_until(turn);
      if (sweep_.is_over()) break;
      if (weights_[turn] > Turns::most_weight) return_free_memory();
      turns_.begin(turn);
      report_if_slow(turn);
      part(turn).call(sweep_, order_[turn].place);
      slow_.end();
      turns_.called(turn);
      while (first_ <= turn && weights_[first_] == 0) conclude_first();
    }
    conclude_until(turn);
  }

 private:
  static std::vector<std::int64_t> weights_of(const Parts& parts, const std::vector<Turn>& order) {
    std::vector<std::int64_t> weights;
    for (const auto& [part, place] : order) weights.push_back(parts[part]->weight(place));
    return weights;
  }
  SweepPart& part(std::size_t turn) const { return *parts_[order_[turn].part]; }
  std::string id(std::size_t turn) const { return part(turn).id(order_[turn].place); }

  void report_if_slow(std::size_t turn) {
    if (in_process_) return;
    slow_.begin(context_, fmt::format("case {} of {} ({})", turn + 1, order_.size(), id(turn)));
  }

  void conclude_first() {
    if (!turns_.is_judged(first_)) report_if_slow(first_);
    turns_.wait_for(first_);
    slow_.end();
    part(first_).conclude(sweep_, order_[first_].place);
    turns_.end(first_++);
  }
  void conclude_until(std::size_t turn) {
    while (first_ < turn) conclude_first();
  }

  const Parts& parts_;
  const std::vector<Turn>& order_;
  conformance::Sweep& sweep_;
  SlowCasePrinter& slow_;
  const Context& context_;
  const bool in_process_;
  const std::vector<std::int64_t> weights_;
  std::size_t first_ = 0;  ///< the first turn (case) that is not finished
  Turns turns_;            ///< last, because its threads use the other members
};

}  // namespace

void run_cases(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
               const std::function<bool(const std::string& id)>& is_finished, bool in_process,
               SlowCasePrinter& slow, const Context& context) {
  CaseRun(parts, order, sweep, is_finished, in_process, slow, context).run();
}

}  // namespace assay::cli
