#include "assay/device/program.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "assay/device/scratchpad.hpp"

namespace assay::device {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// Returns the factor by which moves slow down: they request `asked` bytes per cycle in total, but
/// the memory provides only `share` bytes per cycle.
double slowed(double asked, double share) { return asked > share ? share / asked : 1; }

/// The state of a simulation. For each queue: the instruction that runs, and its remaining cycles.
class Player {
 public:
  Player(const Program& program, const Share& share) : program_(program), share_(share) {
    for (std::size_t id = 0; id < program.size(); ++id)
      queue_of(static_cast<TaskId>(id)).waiting.push_back(static_cast<TaskId>(id));
    result_.turns.resize(program.size(), {{never}, {never}});
    seen_.resize(program.size(), never);
  }

  Trace play() {
    while (left_ > 0) {
      start_what_can();
      step();
    }
    return std::move(result_);
  }

 private:
  struct Queue {
    std::vector<TaskId> waiting;
    std::size_t next = 0;
    TaskId running = none;
    double left = 0;  // cycles at full speed
    double speed = 1;
    double l2_rate = 0, hbm_rate = 0;
    double next_ready = never;  // start time of its next instruction; `never` if unknown
  };

  Queue& queue_of(TaskId id) { return queues_[static_cast<std::size_t>(program_.task(id).pipe)]; }

  /// Returns the time when the results of all dependencies of an instruction are visible. Returns
  /// `never` if a dependency has not ended yet.
  double ready(TaskId id) const {
    double at = 0;
    for (const TaskId* other = program_.after_begin(id); other != program_.after_end(id); ++other)
      at = std::max(at, seen_[static_cast<std::size_t>(*other)]);
    return at;
  }

  void start_what_can() {
    for (Queue& queue : queues_) {
      if (queue.running != none || queue.next == queue.waiting.size()) continue;
      const TaskId id = queue.waiting[queue.next];
      queue.next_ready = ready(id);
      if (queue.next_ready > now_) continue;
      const Task& task = program_.task(id);
      const double cycles = task.cycles.count;
      queue.running = id, queue.left = cycles;
      queue.l2_rate = cycles > 0 ? static_cast<double>(task.l2.count) / cycles : 0;
      queue.hbm_rate = cycles > 0 ? static_cast<double>(task.hbm.count) / cycles : 0;
      ++queue.next;
      result_.turns[static_cast<std::size_t>(id)].start = {now_};
    }
    share_out();
  }

  void share_out() {
    double l2 = 0, hbm = 0;
    for (const Queue& queue : queues_)
      if (queue.running != none) l2 += queue.l2_rate, hbm += queue.hbm_rate;
    const double of_l2 = slowed(l2, share_.l2), of_hbm = slowed(hbm, share_.hbm);
    for (Queue& queue : queues_)
      queue.speed = std::min(queue.l2_rate > 0 ? of_l2 : 1.0, queue.hbm_rate > 0 ? of_hbm : 1.0);
  }

  /// Advances the time to the next moment at which an instruction ends or can start.
  void step() {
    double next = never;
    for (const Queue& queue : queues_)
      if (queue.running != none)
        next = std::min(next, now_ + queue.left / queue.speed);
      else if (queue.next < queue.waiting.size())
        next = std::min(next, queue.next_ready);
    const double passed = next - now_;
    for (Queue& queue : queues_) {
      if (queue.running == none) continue;
      // An instruction that ends in this step gets exactly 0 remaining cycles, so that no rounding
      // error remains.
      const bool ends = now_ + queue.left / queue.speed <= next;
      queue.left = ends ? 0 : queue.left - passed * queue.speed;
      result_.busy[static_cast<std::size_t>(&queue - queues_.data())] += Cycles{passed};
      if (ends) end(queue, next);
    }
    now_ = next;
  }

  void end(Queue& queue, double at) {
    const auto index = static_cast<std::size_t>(queue.running);
    result_.turns[index].end = {at};
    seen_[index] = at + program_.task(queue.running).latency.count;
    result_.makespan = std::max(result_.makespan, Cycles{seen_[index]});
    queue.running = none, queue.next_ready = never;
    --left_;
  }

  const Program& program_;
  const Share& share_;
  std::array<Queue, pipe_count> queues_;
  std::vector<double> seen_;
  std::size_t left_ = program_.size();
  double now_ = 0;
  Trace result_;
};

}  // namespace

TaskId Program::add(const Task& task, std::initializer_list<TaskId> after) {
  first_.push_back(after_.size());
  for (const TaskId other : after) {
    if (other == none) continue;
    if (other < 0 || static_cast<std::size_t>(other) >= tasks_.size())
      throw DeviceFault("deadlock: instruction " + std::to_string(tasks_.size()) +
                        " waits for instruction " + std::to_string(other) + ", but only " +
                        std::to_string(tasks_.size()) + " instructions exist");
    after_.push_back(other);
  }
  tasks_.push_back(task);
  return static_cast<TaskId>(tasks_.size() - 1);
}

Trace run(const Program& program, const Share& share) { return Player(program, share).play(); }

TaskId Ring::take() {
  if (freed_by_.empty())
    throw DeviceFault("deadlock: a buffer is requested, but all buffers hold unread data");
  const TaskId last_reader = freed_by_.front();
  freed_by_.pop_front();
  return last_reader;
}

}  // namespace assay::device
