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

/// A context of the C API: its options, and its default stream. Calls that pass a null stream use
/// the default stream.
class Context {
 public:
  void set_option(aclSysParamOpt option, std::int64_t value);
  /// Returns the value of the option, or 0 if the option was not set.
  std::int64_t option(aclSysParamOpt option) const;
  /// Null before make_default_stream.
  std::shared_ptr<Stream> default_stream() const;
  /// Returns the default stream; the first call creates it. `self` is the handle of this context.
  std::shared_ptr<Stream> make_default_stream(const void* self);

 private:
  mutable std::mutex mutex_;
  std::map<aclSysParamOpt, std::int64_t> options_;
  std::shared_ptr<Stream> default_stream_;
};

/// The state of the C API in this process. Thread-safe.
class Process {
 public:
  static Process& get();

  /// Initializes the C API. Errors: Failure if the process is already initialized, or if the
  /// product is unknown.
  void initialize();
  /// Waits for all streams and destroys every object. Errors: Failure if the process is not
  /// initialized.
  void finalize();
  /// Returns the device. Errors: Failure before aclInit and after aclFinalize.
  std::shared_ptr<Device> device() const;

  /// Opens the device. Call close_device once for each call of open_device. The last close_device
  /// destroys contexts, streams, events and memory.
  void open_device(std::int32_t id);
  void close_device(std::int32_t id);

  aclrtContext create_context(std::int32_t device_id);
  void destroy_context(aclrtContext context);
  /// Makes the context current in this thread.
  void set_current_context(aclrtContext context);
  /// Returns the current context of this thread. Errors: Failure if the thread has none.
  aclrtContext current_context() const;
  std::shared_ptr<Context> current() const;
  /// Returns the id of the open device.
  std::int32_t device_id() const;

  aclrtStream create_stream();
  void destroy_stream(aclrtStream stream);
  /// Returns the stream of a handle; null means the default stream of the current context. Errors:
  /// Failure if the stream was destroyed or never created.
  std::shared_ptr<Stream> stream(aclrtStream stream) const;
  /// Waits for all tasks of every stream. Errors: the Failure of the task that failed first, thrown
  /// after all tasks are done.
  void synchronize();

  Registry<void, Event> events;
  Registry<aclTensorList, const TensorList> tensor_lists;
  Registry<aclTensor, const TensorView> tensors;
  Registry<aclIntArray, const IntArray> int_arrays;
  Registry<aclScalar, const Scalar> scalars;
  Registry<aclOpExecutor, Executor> executors;

 private:
  enum class State : std::uint8_t { fresh, initialized, finalized };

  /// Objects that were removed from the registries. They must be destroyed after the lock is
  /// released, because the destructor of a stream first finishes the tasks of the stream.
  struct Dropped {
    std::vector<std::shared_ptr<Stream>> streams;
    std::vector<std::shared_ptr<Context>> contexts;
  };

  void require_device(std::int32_t id) const;
  /// Requires that the caller has locked `mutex_`.
  void require_initialized() const;
  Dropped drop_streams_and_contexts();

  mutable std::mutex mutex_;  ///< protects the members below; never held while waiting
  State state_ = State::fresh;
  std::shared_ptr<Device> device_;
  int openings_ = 0;
  aclrtContext default_context_ = nullptr;

  Registry<void, Context> contexts_;
  Registry<void, Stream> streams_;
};

/// Waits for all tasks of a stream. Errors: Failure if a task failed.
void synchronize(Stream& stream);
/// Waits for all tasks of a stream, at most for the time `limit`. Errors: Failure if a task failed,
/// or is not done after this time.
void synchronize_within(std::chrono::milliseconds limit, Stream& stream);

}  // namespace assay::aclnn
