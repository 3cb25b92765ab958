#include <string>

#include "acl/acl.h"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/process.hpp"

namespace {

using namespace assay::aclnn;

template <class Body>
aclError runtime(std::string_view function, const Body& body) noexcept {
  return answer(Family::runtime, function, body);
}

std::shared_ptr<Event> live(aclrtEvent event, std::string_view name) {
  Process::get().device();
  require(Family::runtime, event, name);
  auto found = Process::get().events.find(event);
  if (found == nullptr)
    throw Failure(ACL_ERROR_INVALID_PARAM, std::string(name) + " was destroyed or never created");
  return found;
}

/// Returns the mark (position in a stream) that the event recorded, so that the caller can wait for
/// it.
std::shared_ptr<const Mark> recorded(aclrtEvent event) {
  auto mark = live(event, "event")->latest();
  if (mark == nullptr)
    throw Failure(ACL_ERROR_INVALID_PARAM,
                  "event was never recorded; there is nothing to wait for");
  return mark;
}

Mark::Time time_of(aclrtEvent event, std::string_view name) {
  const auto mark = live(event, name)->latest();
  const auto time = mark == nullptr ? std::nullopt : mark->reached();
  if (!time)
    throw Failure(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                  std::string(name) +
                      (mark == nullptr ? " was never recorded"
                                       : " was recorded, but its stream has not reached it yet"));
  return *time;
}

}  // namespace

extern "C" {

aclError aclrtCreateEvent(aclrtEvent* event) {
  return runtime("aclrtCreateEvent", [&] {
    require(Family::runtime, event, "event");
    Process::get().current();
    *event = Process::get().events.add(std::make_shared<Event>());
  });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return runtime("aclrtDestroyEvent", [&] {
    live(event, "event");
    Process::get().events.take(event);
  });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return runtime("aclrtRecordEvent", [&] {
    const auto recording = live(event, "event");
    const auto mark = std::make_shared<Mark>();
    Process::get().stream(stream)->push([mark] { mark->reach(); });
    recording->record(mark);
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return runtime("aclrtQueryEventStatus", [&] {
    const auto mark = live(event, "event")->latest();
    require(Family::runtime, status, "status");
    *status = mark != nullptr && mark->reached() ? ACL_EVENT_RECORDED_STATUS_COMPLETE
                                                 : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return runtime("aclrtSynchronizeEvent", [&] { recorded(event)->wait(); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return runtime("aclrtStreamWaitEvent", [&] {
    Process::get().stream(stream)->push([mark = recorded(event)] { mark->wait(); });
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return runtime("aclrtEventElapsedTime", [&] {
    require(Family::runtime, ms, "ms");
    const Mark::Time start = time_of(startEvent, "startEvent"), end = time_of(endEvent, "endEvent");
    if (end < start)
      throw Failure(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                    "endEvent was reached before startEvent");
    *ms = std::chrono::duration<float, std::milli>(end - start).count();
  });
}

}  // extern "C"
