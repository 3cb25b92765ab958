#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

/// The entry point of a fuzz target. libFuzzer calls this function, and so does corpus_main.cpp
/// with the files of a corpus.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

namespace assay::fuzz {

/// Checks a condition. If the condition is false, the process ends with a trap, where a debugger
/// stops.
inline void require(bool kept) {
  if (!kept) __builtin_trap();
}

/// Takes values from the fuzzer's bytes, one after the other. After the last byte all values are 0.
class Bytes {
 public:
  Bytes(const std::uint8_t* from, std::size_t size) : at_(from), left_(size) {}

  bool empty() const { return left_ == 0; }
  template <class T>
  T take() {
    T value{};
    const std::size_t size = left_ < sizeof value ? left_ : sizeof value;
    std::memcpy(&value, at_, size);
    at_ += size, left_ -= size;
    return value;
  }
  std::string rest() const { return {reinterpret_cast<const char*>(at_), left_}; }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

}  // namespace assay::fuzz
