#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "assay/mutants/kill_table.hpp"

namespace assay::mutants {

/// The minimum number of faulty and correct kernels in a table.
struct Crowd {
  std::int64_t injected, healthy;
};

/// Expects that every mutant (kernel with an injected fault) is detected, and that every correct
/// variant passes.
inline void expect_each_told_apart(const KillTable& table, const Crowd& least) {
  std::int64_t healthy = 0, injected = 0;
  for (const KillRow& row : table.rows) {
    ++(row.mutant.healthy ? healthy : injected);
    EXPECT_TRUE(row.as_expected())
        << row.mutant.name << " (" << row.mutant.bug << "), failed " << row.failed << " of "
        << row.cases << " cases\n  " << row.replay << "\n  " << row.text;
  }
  EXPECT_GE(injected, least.injected);
  EXPECT_GE(healthy, least.healthy);
  EXPECT_FALSE(table.interrupted);
}

/// Returns the kill table (which cases detect which fault) for the mutants of this subject: wrong
/// argument checks or wrong numbers. It has all correct variants and every `sample`-th mutant.
template <class Op>
KillTable kill_table_of(Subject subject, std::size_t sample = 1) {
  auto chosen = mutants<Op>();
  std::size_t faults = 0;
  std::erase_if(chosen, [&](const MutantOf<Op>& one) {
    return one.subject != subject || (!one.healthy && faults++ % sample != 0);
  });
  return kill_table(chosen, kill_cases<Op>());
}

}  // namespace assay::mutants
