#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/spec/call.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// How one tensor of a call is strided.
/// padded: rows further apart than needed, after an offset; transposed: storage with the first two
/// axes exchanged; columns: storage with the last two axes exchanged, so that elements of a row lie
/// apart; mixed: strides and offset that no other tensor of the call has; far: the last element
/// lies 2^31 elements after the first one, or further.
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

/// Distance, in elements, that a view of Striding::far spans at least.
inline constexpr std::int64_t far_elements = std::int64_t{1} << 31;

/// Sets `parameter`'s strides and offset for its shape. `number` counts the tensors of a call:
/// Striding::mixed gives each number strides of its own.
void apply_striding(Parameter& parameter, Striding striding, std::int64_t number = 0);

/// Bytes of the storage that the view of a parameter needs.
std::int64_t storage_bytes(const Parameter& parameter);

/// Returns whether the view reaches so few of the many bytes that it spans that its storage is
/// sparse.
bool is_sparse(const Parameter& parameter);

/// How the inputs of a call are strided, or its outputs: all alike, or some tensors by their names.
class Strides {
 public:
  Strides() = default;
  Strides(Striding all) : all_(all) {}

  /// Strides the tensor of that name like this, whatever the others have.
  void set(std::string_view tensor, Striding striding);

  /// The striding of the tensors without one of their own.
  Striding all() const { return all_; }
  /// Tensors with a striding of their own, sorted by name.
  const std::vector<std::pair<std::string, Striding>>& named() const { return named_; }
  Striding of(std::string_view tensor) const;
  /// Returns whether every tensor is contiguous.
  bool is_contiguous() const;

  friend bool operator==(const Strides&, const Strides&) = default;

 private:
  Striding all_ = Striding::contiguous;
  std::vector<std::pair<std::string, Striding>> named_;
};

/// "padded", "dy:transposed,value:padded", "padded,dy:far": what the named tensors have, after what
/// the others have, which is left out where it is "contiguous".
std::string to_text(const Strides& strides);

}  // namespace assay::spec
