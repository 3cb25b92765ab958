#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "assay/spec/dtype.hpp"
#include "assay/spec/text_enum.hpp"

namespace assay::spec {

/// How a kernel rounds a value to a narrower type. `unknown`: to the nearest number, with an
/// unknown tie rule.
enum class Rounding : std::uint8_t { rne, rna, rtz, stochastic, unknown, unknown_any };
/// The result of a cast if the value exceeds the largest finite number.
enum class Overflow : std::uint8_t { inf, saturate, either };
/// The source of the softmax statistics. `given`: the tensors passed to the kernel; `own`: the
/// kernel computes them itself.
enum class Origin : std::uint8_t { given, own };
/// How the kernel computes the row term, rowsum(dy * attention_in). `given`: from the tensors dy
/// and attention_in. `own`: as the sum of its P dP. `own_output`: as the dot product of dy and the
/// output of its own forward pass, which rounds P to the type `stage` and its output to the type of
/// the tensors.
enum class RowTerm : std::uint8_t { given, own, own_output };
/// How the kernel computes the row factor of dsink, the gradient of a sink. `own`: as the sum of
/// its P dP over the keys. `given_o`: as the dot product of dy and attention_in.
enum class SinkRow : std::uint8_t { own, given_o };
/// The order of accumulation. `fixed` promises that a second run gives the same bits.
enum class Order : std::uint8_t { any, fixed };
/// How the matrix unit reads an operand of a product. `tf32_truncating`: it truncates to tf32, as
/// NVIDIA's units do with fp32 operands that the kernel did not convert.
enum class Product32 : std::uint8_t { exact, tf32, tf32_truncating, hf32 };
/// The memory order in which a kernel reads softmaxMax and softmaxSum in TND. `heads_first`:
/// sequence by sequence, and within a sequence head by head; `tokens_first`: token by token, as the
/// shape (T, N, 8) says. The documentation contradicts itself about this order.
enum class DeclaredOrder : std::uint8_t { undeclared, heads_first, tokens_first };
/// The numbers that a forward saves in softmaxMax and softmaxSum. `statistics`: maximum and sum.
/// `lse`: any two numbers m and z for which m + ln z is the log-sum-exp (LSE) of the scores, such
/// as LSE and 1.
enum class Saved : std::uint8_t { statistics, lse };
/// Type and rounding of the accumulator of matrix products.
enum class Accumulator : std::uint8_t { fp32, fp32_truncating, fp16 };

template <>
inline constexpr auto spellings_of<Rounding> = Spellings<Rounding, 6>{{{
    {Rounding::rne, "rne"},
    {Rounding::rna, "rna"},
    {Rounding::rtz, "rtz"},
    {Rounding::stochastic, "stochastic"},
    {Rounding::unknown, "unknown"},
    {Rounding::unknown_any, "unknown_any"},
}}};
template <>
inline constexpr auto spellings_of<Overflow> = Spellings<Overflow, 3>{{{
    {Overflow::inf, "inf"},
    {Overflow::saturate, "saturate"},
    {Overflow::either, "either"},
}}};
template <>
inline constexpr auto spellings_of<Origin> =
    Spellings<Origin, 2>{{{{Origin::given, "given"}, {Origin::own, "own"}}}};
template <>
inline constexpr auto spellings_of<RowTerm> = Spellings<RowTerm, 3>{{{
    {RowTerm::given, "given"},
    {RowTerm::own, "own"},
    {RowTerm::own_output, "own_output"},
}}};
template <>
inline constexpr auto spellings_of<SinkRow> =
    Spellings<SinkRow, 2>{{{{SinkRow::own, "own"}, {SinkRow::given_o, "given_o"}}}};
template <>
inline constexpr auto spellings_of<Order> =
    Spellings<Order, 2>{{{{Order::any, "any"}, {Order::fixed, "fixed"}}}};
template <>
inline constexpr auto spellings_of<Product32> = Spellings<Product32, 4>{{{
    {Product32::exact, "exact"},
    {Product32::tf32, "tf32"},
    {Product32::tf32_truncating, "tf32_truncating"},
    {Product32::hf32, "hf32"},
}}};
template <>
inline constexpr auto spellings_of<DeclaredOrder> = Spellings<DeclaredOrder, 3>{{{
    {DeclaredOrder::undeclared, "undeclared"},
    {DeclaredOrder::heads_first, "heads_first"},
    {DeclaredOrder::tokens_first, "tokens_first"},
}}};
template <>
inline constexpr auto spellings_of<Saved> =
    Spellings<Saved, 2>{{{{Saved::statistics, "statistics"}, {Saved::lse, "lse"}}}};
template <>
inline constexpr auto spellings_of<Accumulator> = Spellings<Accumulator, 3>{{{
    {Accumulator::fp32, "fp32"},
    {Accumulator::fp32_truncating, "fp32_truncating"},
    {Accumulator::fp16, "fp16"},
}}};

/// The "numerics" of an implementation: its declaration of its own arithmetic, and of the memory
/// order in which it reads softmax_max and softmax_sum. The judge derives every tolerance from this
/// declaration. If the declaration is wrong, the kernel fails.
struct Numerics {
  DType store_s = DType::fp32;   ///< the type to which the scores are rounded before further use
  DType store_p = DType::fp32;   ///< the type to which P is rounded
  DType store_dp = DType::fp32;  ///< the type to which dP is rounded
  DType stage = DType::fp32;     ///< type of P and dS in the gradient products; fp32: not staged
  DType partials = DType::fp32;  ///< the type of partial results per head or split
  Rounding round_stage = Rounding::rne;
  Rounding round_out = Rounding::rne;
  Overflow overflow = Overflow::inf;
  Product32 product = Product32::exact;
  Accumulator accumulator = Accumulator::fp32;
  bool operand_scaled =
      false;  ///< K or Q is multiplied by scale and rounded to the io type before use
  Origin stats = Origin::given;
  RowTerm delta = RowTerm::given;
  SinkRow dsink_row = SinkRow::own;
  bool lse_form = false;       ///< P = exp(S - (m + ln z)) from one rounded number
  double exp_error = 0x1p-22;  ///< relative error of exp, with its argument reduction
  Saved saves = Saved::statistics;
  double log_error = 0x1p-22;  ///< of the log in LSE, for saves=lse; relative if |log| > 1
  bool fused = true;           ///< score formed as exp2(fma(S, c, -m c))
  double floor = 0x1p-126;     ///< residues up to this size count as 0; 0: exact zero promised
  Order order = Order::any;
  /// The declared memory orders of the statistics in TND, one for each value of the attribute
  /// softmaxInLayout (forward: softmaxOutLayout). The first order is for entry points without the
  /// attribute, the second for the value "", the third for "same_as_input".
  DeclaredOrder statistics_order = DeclaredOrder::undeclared;
  DeclaredOrder statistics_order_empty = DeclaredOrder::undeclared;
  DeclaredOrder statistics_order_same_as_input = DeclaredOrder::undeclared;
  bool weak = false;  ///< too loose by design to count as coverage

  friend bool operator==(const Numerics&, const Numerics&) = default;
};

/// Calls visit(name, member) for every field of Numerics, in a fixed order.
template <class Fields, class Visitor>
requires std::same_as<std::remove_const_t<Fields>, Numerics>
void visit_fields(Fields& numerics, Visitor&& visit) {
  visit("store_s", numerics.store_s);
  visit("store_p", numerics.store_p);
  visit("store_dp", numerics.store_dp);
  visit("stage", numerics.stage);
  visit("partials", numerics.partials);
  visit("round_stage", numerics.round_stage);
  visit("round_out", numerics.round_out);
  visit("overflow", numerics.overflow);
  visit("product", numerics.product);
  visit("accumulator", numerics.accumulator);
  visit("operand_scaled", numerics.operand_scaled);
  visit("stats", numerics.stats);
  visit("delta", numerics.delta);
  visit("dsink_row", numerics.dsink_row);
  visit("lse_form", numerics.lse_form);
  visit("exp_error", numerics.exp_error);
  visit("saves", numerics.saves);
  visit("log_error", numerics.log_error);
  visit("fused", numerics.fused);
  visit("floor", numerics.floor);
  visit("order", numerics.order);
  visit("statistics_order", numerics.statistics_order);
  visit("statistics_order_empty", numerics.statistics_order_empty);
  visit("statistics_order_same_as_input", numerics.statistics_order_same_as_input);
  visit("weak", numerics.weak);
}

/// A preset: the declared arithmetic of a known class of kernels, for tensors of type `io`.
struct NumericsPreset {
  std::string_view name;
  std::string_view summary;
  Numerics (*of_scores)(DType io);
  Numerics (*of_sums)(DType io);  ///< for kernels without softmax, which have no P and dS
};

/// Returns the presets, predefined declarations of a kernel's arithmetic: ascend_a2, cuda_flash,
/// torch_composed_bf16, torch_fp32, jax_cpu, fp32_staging.
std::span<const NumericsPreset> numerics_presets();

/// Returns the preset `name` for tensors of type `io` and for kernels of the named operator. An
/// empty operator name means attention.
/// Errors: std::invalid_argument; its message lists the presets.
Numerics numerics_preset(std::string_view name, DType io, std::string_view operator_name = {});

/// Parses a kernel's declaration of its arithmetic (its numerics) and returns the declaration for
/// tensors of type `io`. The text is a preset followed by the fields that differ from the preset,
/// such as "ascend_a2,order=fixed". It can also give one such text per type, such as
/// "fp32:torch_fp32 bf16:jax_cpu,exp_error=1e-6". Without a preset, and for a type that is not in
/// the text, fields have their default values. `operator_name` selects the operator's version of
/// the preset. Errors: std::invalid_argument with the wrong word and the accepted values.
Numerics numerics_from_text(std::string_view text, DType io, std::string_view operator_name = {});

}  // namespace assay::spec
