// The naive example kernel as a C plug-in. In calls with two batches it performs the hostile action
// in the environment variable HOSTILE.
#include <assay_plugin.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "acts.hpp"

// The correct plug-in of the example, which is compiled under this name.
extern "C" const assay_plugin* naive_plugin_v1(void);

namespace {

using assay::hostile::act;

const std::string manner = assay::hostile::manner();

/// Returns a pointer to an address that is not mapped.
template <class T>
T* nowhere() {
  return reinterpret_cast<T*>(std::uintptr_t{64});
}

[[noreturn]] void hang() {
  while (true) pause();
}

bool is_hostile(const assay_call* call) {
  if (const assay_value* const batch = assay_find_field(call, "batch")) return batch->integer == 2;
  const assay_tensor* const query = assay_find_tensor(call, "query");
  return query != nullptr && query->shape[0] == 2;
}

unsigned char* bytes_of(const assay_call* call, const char* name, std::int64_t& size) {
  const assay_tensor* const tensor = assay_find_tensor(call, name);
  size = tensor->storage_bytes;
  return static_cast<unsigned char*>(tensor->storage);
}

/// Computes correctly, then changes tensors or their memory.
void handle(const assay_call* call) {
  std::int64_t size = 0;
  unsigned char* const dq = bytes_of(call, "dq", size);
  if (manner == "writes after an output") dq[size] ^= 1;
  if (manner == "writes before an output") dq[-1] ^= 1;
  if (manner == "writes far after an output") dq[size + (1 << 20)] ^= 1;
  if (manner == "spoils an output") std::memset(dq, 0xff, static_cast<std::size_t>(size));
  if (manner == "takes an output away") munmap(dq, 4096);
  if (manner == "changes an input") {
    std::int64_t key_size = 0;
    bytes_of(call, "key", key_size)[0] ^= 1;
  }
}

std::int32_t run(const assay_call* call, const char** reason) {
  if (!is_hostile(call)) return naive_plugin_v1()->run(call, reason);
  if (manner == "refuses without a reason") return assay_param_invalid;
  if (manner == "refuses with a reason that is nowhere") {
    *reason = nowhere<const char>();
    return assay_param_invalid;
  }
  if (manner == "refuses with a status of its own") return -12345;
  if (manner == "computes nothing") return assay_accepted;
  if (act(manner)) return naive_plugin_v1()->run(call, reason);
  const std::int32_t status = naive_plugin_v1()->run(call, reason);
  handle(call);
  return status;
}

const char* unsupported(const assay_call* call) {
  if (is_hostile(call)) {
    if (manner == "crashes when asked for support") raise(SIGSEGV);
    if (manner == "hangs when asked for support") hang();
    if (manner == "offers a reason that is nowhere") return nowhere<const char>();
    if (manner == "exits when asked for support") std::exit(0);
  }
  return naive_plugin_v1()->unsupported(call);
}

const char* numerics(const assay_call* call) {
  if (is_hostile(call)) {
    if (manner == "crashes when asked for numerics") raise(SIGSEGV);
    if (manner == "hangs when asked for numerics") hang();
    if (manner == "throws when asked for numerics") throw std::string("no");
    if (manner == "declares nonsense") return "\x1b[2J of,, everything";
    if (manner == "declares numerics that are nowhere") return nowhere<const char>();
    if (manner == "rounds upward when asked for numerics") std::fesetround(FE_UPWARD);
  }
  return naive_plugin_v1()->numerics == nullptr ? "" : naive_plugin_v1()->numerics(call);
}

std::int32_t check(const assay_call* call, const char**) {
  if (is_hostile(call)) {
    if (manner == "crashes when it checks") raise(SIGSEGV);
    if (manner == "hangs when it checks") hang();
  }
  return assay_accepted;
}

const assay_metric* metrics(std::int64_t* count) {
  static const assay_metric nameless = {nullptr, 1, nullptr};
  *count = 0;
  if (manner == "measures without end") {
    static const assay_metric one = {"time", 1, "ms"};
    *count = std::int64_t{1} << 60;
    return &one;
  }
  if (manner == "measures less than nothing") *count = -1;
  if (manner == "measures something without a name") *count = 1;
  return &nameless;
}

const char* name() {
  if (manner == "has no name") return nullptr;
  if (manner == "has a name that is nowhere") return nowhere<const char>();
  return "hostile";
}

/// Performs hostile actions while the library is being loaded.
struct Loading {
  Loading() {
    if (manner == "crashes when loaded") raise(SIGSEGV);
    if (manner == "exits when loaded") std::exit(0);
    if (manner == "hangs when loaded") hang();
    if (manner == "throws when loaded") throw 1;
    if (manner == "flushes subnormal numbers from its loading on") act("flushes results");
  }
} loading;

}  // namespace

extern "C" const assay_plugin* assay_plugin_v1(void) {
  static assay_plugin plugin;
  plugin = *naive_plugin_v1();
  plugin.name = name();
  plugin.run = run;
  plugin.unsupported = unsupported;
  plugin.numerics = numerics;
  plugin.check = check;
  plugin.metrics = metrics;
  if (manner == "describes nothing") return nullptr;
  if (manner == "describes itself nowhere") return nowhere<const assay_plugin>();
  if (manner == "offers operators that are nowhere")
    plugin.operators = nowhere<const char* const>();
  if (manner == "has another version") plugin.abi_version = 7;
  if (manner == "has no function") plugin.run = nullptr;
  if (manner == "crashes when described") raise(SIGABRT);
  return &plugin;
}
