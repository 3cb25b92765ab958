#include "sweeping/run_cases.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include "sweeping/turns.hpp"

namespace assay::cli {
namespace {

/// Gives the memory of small cases back before a large one takes its own.
void return_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

class CaseRun {
 public:
  CaseRun(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
          const std::function<bool(const std::string& id)>& is_finished, bool in_process,
          SlowCaseTeller& slow, const Context& context)
      : parts_(parts),
        order_(order),
        sweep_(sweep),
        slow_(slow),
        context_(context),
        in_process_(in_process),
        turns_(
            weights(), in_process ? 0 : threads_beside(),
            [this, &is_finished](std::size_t turn) {
              if (!is_finished(id(turn))) part(turn).prepare(order_[turn].place);
            },
            [this](std::size_t turn) { part(turn).judge(order_[turn].place); }) {}

  void run() {
    std::size_t turn = 0;
    for (; turn < order_.size(); ++turn) {
      if (!turns_.has_room(turn)) conclude_until(turn);
      if (sweep_.is_over()) break;
      if (part(turn).elements(order_[turn].place) > Turns::most_weight) return_free_memory();
      turns_.begin(turn);
      begin_telling(turn);
      part(turn).call(sweep_, order_[turn].place);
      slow_.end();
      turns_.called(turn);
      while (first_ <= turn && part(first_).elements(order_[first_].place) == 0) conclude_first();
    }
    conclude_until(turn);
  }

 private:
  std::vector<std::int64_t> weights() const {
    std::vector<std::int64_t> weights;
    for (const auto& [part, place] : order_) weights.push_back(parts_[part]->elements(place));
    return weights;
  }
  SweepPart& part(std::size_t turn) const { return *parts_[order_[turn].part]; }
  std::string id(std::size_t turn) const { return part(turn).id(order_[turn].place); }

  void begin_telling(std::size_t turn) {
    if (in_process_) return;
    slow_.begin(context_, fmt::format("case {} of {} ({})", turn + 1, order_.size(), id(turn)));
  }

  void conclude_first() {
    if (!turns_.is_judged(first_)) begin_telling(first_);
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
  SlowCaseTeller& slow_;
  const Context& context_;
  const bool in_process_;
  std::size_t first_ = 0;  ///< that has not been concluded
  Turns turns_;            ///< last: its threads use the others
};

}  // namespace

void run_cases(const Parts& parts, const std::vector<Turn>& order, conformance::Sweep& sweep,
               const std::function<bool(const std::string& id)>& is_finished, bool in_process,
               SlowCaseTeller& slow, const Context& context) {
  CaseRun(parts, order, sweep, is_finished, in_process, slow, context).run();
}

}  // namespace assay::cli
