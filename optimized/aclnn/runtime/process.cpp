#include "aclnn/runtime/process.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <utility>

namespace assay::aclnn {
namespace {

constexpr std::int32_t device_number = 0;  // the only device
constexpr const char* product_variable = "ASSAY_ACLNN_PRODUCT";
constexpr const char* orders_variable = "ASSAY_ACLNN_STATISTICS";

thread_local aclrtContext thread_context = nullptr;

Failure invalid(const std::string& what) { return {ACL_ERROR_INVALID_PARAM, what}; }

void require_success(const std::exception_ptr& failure) {
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (...) {
    throw Failure(ACL_ERROR_RT_FAILURE,
                  std::string("a task failed: ") + current_failure(Family::runtime).what());
  }
}

spec::Product chosen_product() {
  const char* const given = std::getenv(product_variable);
  if (given == nullptr || *given == '\0') return spec::Product::a2;
  const auto product = spec::spellings_of<spec::Product>.parse(given);
  if (!product)
    throw invalid(std::string(product_variable) + " is \"" + given + "\"; it must be one of " +
                  spec::spellings_of<spec::Product>.choices());
  return *product;
}

/// Reads the memory orders of the softmax statistics from an environment variable, for example
/// "statistics_order=tokens_first,statistics_order_empty=heads_first".
spec::Numerics chosen_orders() {
  const char* const given = std::getenv(orders_variable);
  if (given == nullptr) return {};
  const auto refused = [&](const std::string& why) {
    return invalid(std::string(orders_variable) + " is \"" + given + "\": " + why);
  };
  spec::Numerics orders;
  try {
    orders = spec::numerics_from_text(given, spec::DType::fp32);
  } catch (const std::invalid_argument& error) {
    throw refused(error.what());
  }
  spec::Numerics nothing_else;
  nothing_else.statistics_order = orders.statistics_order;
  nothing_else.statistics_order_empty = orders.statistics_order_empty;
  nothing_else.statistics_order_same_as_input = orders.statistics_order_same_as_input;
  if (orders != nothing_else)
    throw refused(
        "the variable may set only statistics_order, statistics_order_empty and "
        "statistics_order_same_as_input");
  return orders;
}

}  // namespace

void Context::set_option(aclSysParamOpt option, std::int64_t value) {
  const std::lock_guard lock(mutex_);
  options_[option] = value;
}

std::int64_t Context::option(aclSysParamOpt option) const {
  const std::lock_guard lock(mutex_);
  const auto found = options_.find(option);
  return found == options_.end() ? 0 : found->second;
}

std::shared_ptr<Stream> Context::default_stream() const {
  const std::lock_guard lock(mutex_);
  return default_stream_;
}

std::shared_ptr<Stream> Context::make_default_stream(const void* self) {
  const std::lock_guard lock(mutex_);
  if (default_stream_ == nullptr) default_stream_ = std::make_shared<Stream>(self);
  return default_stream_;
}

Process& Process::get() {
  static Process process;
  return process;
}

void Process::initialize() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::initialized)
    throw Failure(ACL_ERROR_REPEAT_INITIALIZE, "the process is already initialized");
  device_ = std::make_shared<Device>(chosen_product(), chosen_orders());
  state_ = State::initialized;
}

void Process::finalize() {
  std::shared_ptr<Device> device;
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  if (state_ == State::fresh) throw Failure(ACL_ERROR_UNINITIALIZE, "aclInit was not called");
  if (state_ == State::finalized)
    throw Failure(ACL_ERROR_REPEAT_FINALIZE, "the process is already finalized");
  state_ = State::finalized;
  device.swap(device_);
  openings_ = 0;
  dropped = drop_streams_and_contexts();
  executors.take_all();
  tensor_lists.take_all();
  tensors.take_all();
  int_arrays.take_all();
  scalars.take_all();
}

void Process::require_initialized() const {
  if (state_ != State::initialized)
    throw Failure(ACL_ERROR_UNINITIALIZE,
                  state_ == State::fresh ? "aclInit was not called" : "aclFinalize was called");
}

std::shared_ptr<Device> Process::device() const {
  const std::lock_guard lock(mutex_);
  require_initialized();
  return device_;
}

void Process::require_device(std::int32_t id) const {
  if (id != device_number)
    throw Failure(ACL_ERROR_INVALID_DEVICE,
                  "deviceId is " + std::to_string(id) + "; the only device is 0");
}

void Process::open_device(std::int32_t id) {
  const std::lock_guard lock(mutex_);
  require_initialized();
  require_device(id);
  if (openings_++ == 0) default_context_ = contexts_.add(std::make_shared<Context>());
  thread_context = default_context_;
}

void Process::close_device(std::int32_t id) {
  Dropped dropped;
  const std::lock_guard lock(mutex_);
  require_initialized();
  require_device(id);
  if (openings_ == 0) throw invalid("device " + std::to_string(id) + " is not set");
  if (--openings_ > 0) return;
  dropped = drop_streams_and_contexts();
  device_->memory.release_all();
}

Process::Dropped Process::drop_streams_and_contexts() {
  default_context_ = nullptr;
  events.take_all();
  return {.streams = streams_.take_all(), .contexts = contexts_.take_all()};
}

aclrtContext Process::create_context(std::int32_t device_id) {
  device();
  require_device(device_id);
  thread_context = contexts_.add(std::make_shared<Context>());
  return thread_context;
}

void Process::destroy_context(aclrtContext context) {
  device();
  {
    const std::lock_guard lock(mutex_);
    if (context != nullptr && context == default_context_)
      throw invalid("context is the default context; only aclrtResetDevice destroys it");
  }
  if (contexts_.take(context) == nullptr) throw invalid("context was destroyed or never created");
  streams_.take_where([&](const Stream& stream) { return stream.context() == context; });
}

void Process::set_current_context(aclrtContext context) {
  device();
  if (contexts_.find(context) == nullptr) throw invalid("context was destroyed or never created");
  thread_context = context;
}

std::shared_ptr<Context> Process::current() const {
  device();
  auto context = contexts_.find(thread_context);
  if (context == nullptr)
    throw Failure(
        ACL_ERROR_RT_CONTEXT_NULL,
        "this thread has no context; call aclrtSetDevice or aclrtSetCurrentContext first");
  return context;
}

aclrtContext Process::current_context() const {
  current();
  return thread_context;
}

std::int32_t Process::device_id() const {
  current();
  return device_number;
}

aclrtStream Process::create_stream() {
  return streams_.add(std::make_shared<Stream>(current_context()));
}

void Process::destroy_stream(aclrtStream stream) {
  device();
  if (streams_.take(stream) == nullptr) throw invalid("stream was destroyed or never created");
}

std::shared_ptr<Stream> Process::stream(aclrtStream stream) const {
  if (stream == nullptr) return current()->make_default_stream(thread_context);
  device();
  auto found = streams_.find(stream);
  if (found == nullptr) throw invalid("stream was destroyed or never created");
  return found;
}

void Process::synchronize() {
  current();
  std::exception_ptr first;
  const auto wait_for = [&](Stream& stream) {
    std::exception_ptr failure = stream.wait();
    if (!first) first = std::move(failure);
  };
  for (const auto& stream : streams_.all()) wait_for(*stream);
  for (const auto& context : contexts_.all())
    if (const auto stream = context->default_stream()) wait_for(*stream);
  require_success(first);
}

void synchronize(Stream& stream) { require_success(stream.wait()); }

void synchronize_within(std::chrono::milliseconds limit, Stream& stream) {
  const auto failure = stream.wait_for(limit);
  if (!failure)
    throw Failure(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, "tasks of the stream are not done after " +
                                                        std::to_string(limit.count()) + " ms");
  require_success(*failure);
}

}  // namespace assay::aclnn
