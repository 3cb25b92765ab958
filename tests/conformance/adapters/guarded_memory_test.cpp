#include "isolated/guarded_memory.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

namespace assay::adapters {
namespace {

constexpr std::int64_t mebibyte = 1 << 20;

/// Allocates shared memory for one storage of this size in the file `kept`, and returns the file
/// status (stat).
struct stat borrowed_for(KeptFile& kept, std::int64_t size) {
  const SharedMemory memory(kept, {size});
  struct stat status = {};
  EXPECT_EQ(fstat(memory.file(), &status), 0);
  return status;
}

TEST(KeptFile, IsReusedIfTheNextRunFits) {
  KeptFile kept;
  const auto first = borrowed_for(kept, 5 * mebibyte);
  EXPECT_EQ(borrowed_for(kept, 1).st_ino, first.st_ino);
  EXPECT_EQ(borrowed_for(kept, 5 * mebibyte).st_ino, first.st_ino);
  EXPECT_GT(borrowed_for(kept, 6 * mebibyte).st_size, 6 * mebibyte);
}

TEST(KeptFile, IsReplacedByOneWithReserve) {
  KeptFile kept;
  const auto first = borrowed_for(kept, mebibyte);
  const auto second = borrowed_for(kept, 2 * mebibyte);
  EXPECT_NE(second.st_ino, first.st_ino);
  EXPECT_EQ(borrowed_for(kept, 6 * mebibyte).st_ino, second.st_ino);
  const auto third = borrowed_for(kept, 30 * mebibyte);
  EXPECT_LE(third.st_size, 64 * mebibyte) << "at most 64 MiB are kept";
  EXPECT_EQ(borrowed_for(kept, 60 * mebibyte).st_ino, third.st_ino);
}

TEST(KeptFile, HasNoReserveBeyondTheLimitOfAFile) {
  rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit limit = {3 * mebibyte, before.rlim_max};
  KeptFile kept;
  borrowed_for(kept, mebibyte);
  setrlimit(RLIMIT_FSIZE, &limit);
  EXPECT_EQ(borrowed_for(kept, 2 * mebibyte).st_size, 3 * mebibyte);
  setrlimit(RLIMIT_FSIZE, &before);
}

TEST(KeptFile, IsNotKeptWhereItIsLarge) {
  KeptFile kept;
  EXPECT_GT(borrowed_for(kept, 65 * mebibyte).st_size, 65 * mebibyte);
  EXPECT_LT(borrowed_for(kept, 1).st_size, mebibyte);
}

TEST(KeptFile, IsReplacedAfterForget) {
  KeptFile kept;
  const Descriptor still_open(dup(SharedMemory(kept, {1}).file()));  // keeps the inode in use
  struct stat before = {};
  ASSERT_EQ(fstat(still_open.number(), &before), 0);
  kept.forget();
  EXPECT_NE(borrowed_for(kept, 1).st_ino, before.st_ino);
}

TEST(SharedMemory, UsesOnlyTheNeededPartOfTheFile) {
  KeptFile kept;
  borrowed_for(kept, 5 * mebibyte);
  EXPECT_LT(SharedMemory(kept, {1, 2}).bytes(), mebibyte);
  EXPECT_GT(SharedMemory(kept, {mebibyte, mebibyte}).bytes(), 2 * mebibyte);
}

TEST(SharedMemory, CopiesOnlyThePiecesOfASparseStorage) {
  KeptFile kept;
  SharedMemory memory(kept, {std::int64_t{1} << 33, 100});
  spec::Storage far = spec::Storage::sparse(std::size_t{1} << 33);
  far[(std::size_t{1} << 33) - 7] = std::byte{5};
  spec::Storage shared = memory.storage(0, true);
  shared.copy_from(far);
  EXPECT_EQ(shared, far);
  EXPECT_FALSE(memory.damage(0));
  struct stat file = {};
  ASSERT_EQ(fstat(memory.file(), &file), 0);
  EXPECT_LT(file.st_blocks * 512, mebibyte);
}

TEST(SharedMemory, RestoresGuardsForEveryRun) {
  KeptFile kept;
  {
    SharedMemory first(kept, {5 * mebibyte});
    auto all = first.storage(0);
    std::fill(all.begin() - guard_bytes, all.end() + guard_bytes, std::byte{1});
    EXPECT_TRUE(first.damage(0));
  }
  const SharedMemory second(kept, {100, 5000, 70000});
  for (std::size_t k = 0; k < 3; ++k) EXPECT_FALSE(second.damage(k)) << k;
}

}  // namespace
}  // namespace assay::adapters
