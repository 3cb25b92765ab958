#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// How one tensor of a call is strided. padded: rows are further apart than needed, after an
/// offset; transposed: the first two axes are exchanged in memory; columns: the last two axes are
/// exchanged in memory, so that the elements of a row are not adjacent; mixed: strides and offset
/// are different for every tensor of the call; far: the last element is at least 2^31 elements
/// after the first one.
enum class Striding : std::uint8_t { contiguous, padded, transposed, columns, mixed, far };

template <>
inline constexpr auto spellings_of<Striding> = Spellings<Striding, 6>{{{
    {Striding::contiguous, "contiguous"},
    {Striding::padded, "padded"},
    {Striding::transposed, "transposed"},
    {Striding::columns, "columns"},
    {Striding::mixed, "mixed"},
    {Striding::far, "far"},
}}};

/// With Striding::far the first and the last element of a view are at least this number of elements
/// apart.
inline constexpr std::int64_t far_elements = std::int64_t{1} << 31;

/// Sets the strides and the offset of `parameter` for its shape. `number` is the index of the
/// tensor in the call; for Striding::mixed the strides depend on it.
void apply_striding(Parameter& parameter, Striding striding, std::int64_t number = 0);

/// Size in bytes of the smallest storage that contains the view of a parameter.
std::int64_t storage_bytes(const Parameter& parameter);

/// Returns whether the view uses only a small share of the bytes that it spans; then its storage is
/// sparse.
bool is_sparse(const Parameter& parameter);

/// The striding of all inputs of a call, or of all outputs. Single tensors can have a striding of
/// their own.
class Strides {
 public:
  Strides() = default;
  Strides(Striding all) : all_(all) {}

  /// Sets the striding of one tensor, by its name.
  void set(std::string_view tensor, Striding striding);

  /// The striding of all tensors that have no striding of their own.
  Striding all() const { return all_; }
  /// Tensors with their own striding, sorted by name.
  const std::vector<std::pair<std::string, Striding>>& named() const { return named_; }
  Striding of(std::string_view tensor) const;
  /// Returns whether every tensor is contiguous.
  bool is_contiguous() const;

  friend bool operator==(const Strides&, const Strides&) = default;

 private:
  Striding all_ = Striding::contiguous;
  std::vector<std::pair<std::string, Striding>> named_;
};

/// Formats the striding of all tensors (omitted if it is "contiguous"), then that of the named
/// tensors: "padded", "dy:transposed,value:padded", "padded,dy:far".
std::string to_text(const Strides& strides);

}  // namespace assay::spec
