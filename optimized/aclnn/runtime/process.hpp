#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "acl/acl_rt.h"
#include "aclnn/objects/executor.hpp"
#include "aclnn/objects/objects.hpp"
#include "aclnn/runtime/device.hpp"
#include "aclnn/runtime/event.hpp"
#include "aclnn/runtime/failure.hpp"
#include "aclnn/runtime/registry.hpp"
#include "aclnn/runtime/stream.hpp"

namespace assay::aclnn {

/// What a thread works in: options, and a stream for callers who name none.
class Context {
 public:
  void set_option(aclSysParamOpt option, std::int64_t value);
  /// 0 if it was not set.
  std::int64_t option(aclSysParamOpt option) const;
  /// Made at its first use; null before.
  std::shared_ptr<Stream> default_stream() const;
  /// `self`: the handle of this context.
  std::shared_ptr<Stream> make_default_stream(const void* self);

 private:
  mutable std::mutex mutex_;
  std::map<aclSysParamOpt, std::int64_t> options_;
  std::shared_ptr<Stream> default_stream_;
};

/// All state behind the C API. Safe for several threads.
class Process {
 public:
  static Process& get();

  /// Errors: Failure if it is initialized, or for a product that there is not.
  void initialize();
  /// Waits for all streams and drops every object. Errors: Failure if it is not initialized.
  void finalize();
  /// Errors: Failure before aclInit and behind aclFinalize.
  std::shared_ptr<Device> device() const;

  /// Each opening needs a closing; the last one drops contexts, streams, events and memory.
  void open_device(std::int32_t id);
  void close_device(std::int32_t id);

  aclrtContext create_context(std::int32_t device_id);
  void destroy_context(aclrtContext context);
  /// Makes it the one of this thread.
  void set_current_context(aclrtContext context);
  /// Errors: Failure if this thread has none.
  aclrtContext current_context() const;
  std::shared_ptr<Context> current() const;
  /// Of the device that is open.
  std::int32_t device_id() const;

  aclrtStream create_stream();
  void destroy_stream(aclrtStream stream);
  /// Null: the default stream of the current context. Errors: Failure for what is no live stream.
  std::shared_ptr<Stream> stream(aclrtStream stream) const;
  /// Waits for every stream. Errors: Failure with the first task that failed, once all are done.
  void synchronize();

  Registry<void, Event> events;
  Registry<aclTensorList, const TensorList> tensor_lists;
  Registry<aclTensor, const TensorView> tensors;
  Registry<aclIntArray, const IntArray> int_arrays;
  Registry<aclScalar, const Scalar> scalars;
  Registry<aclOpExecutor, Executor> executors;

 private:
  enum class State : std::uint8_t { fresh, initialized, finalized };

  /// What nobody finds any more. Streams finish their tasks where it ends: outside the lock.
  struct Dropped {
    std::vector<std::shared_ptr<Stream>> streams;
    std::vector<std::shared_ptr<Context>> contexts;
  };

  void require_device(std::int32_t id) const;
  /// These two are called under the lock.
  void require_initialized() const;
  Dropped drop_streams_and_contexts();

  mutable std::mutex mutex_;  ///< of what follows; never held while waiting
  State state_ = State::fresh;
  std::shared_ptr<Device> device_;
  int openings_ = 0;
  aclrtContext default_context_ = nullptr;

  Registry<void, Context> contexts_;
  Registry<void, Stream> streams_;
};

/// Waits. Errors: Failure if a task failed.
void synchronize(Stream& stream);
/// Waits no longer than that. Errors: Failure if a task failed, or is not done by then.
void synchronize_within(std::chrono::milliseconds limit, Stream& stream);

}  // namespace assay::aclnn
