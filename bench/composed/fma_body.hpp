#pragma once

#include <Eigen/Core>

#include "composed/fma.hpp"

namespace assay::bench {

inline double fma_body(std::int64_t rounds) {
  using Packet = Eigen::internal::packet_traits<float>::type;
  constexpr int chains = 12;  // enough to hide the latency; the factors still fit into registers
  const Packet factor = Eigen::internal::pset1<Packet>(0.5F);
  const Packet term = Eigen::internal::pset1<Packet>(1.0F);
  Packet sums[chains];
  for (Packet& sum : sums) sum = Eigen::internal::pset1<Packet>(0.0F);
  for (std::int64_t round = 0; round < rounds; ++round)
    for (Packet& sum : sums) sum = Eigen::internal::pmadd(sum, factor, term);
  double all = 0;
  for (const Packet& sum : sums) all += static_cast<double>(Eigen::internal::predux(sum));
  const auto operations =
      static_cast<double>(2 * chains * Eigen::internal::packet_traits<float>::size);
  // `all` is positive, so the condition `all < 0` is never true. The compiler cannot deduce this,
  // so it does not remove the computation of the sums.
  return all < 0 ? 0 : operations * static_cast<double>(rounds);
}

}  // namespace assay::bench
