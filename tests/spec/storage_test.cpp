#include "assay/spec/storage.hpp"

#include <gtest/gtest.h>

#include <array>

namespace assay::spec {
namespace {

TEST(Storage, CopyOfBorrowedStorageOwnsItsBytes) {
  std::array<std::byte, 4> memory = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Storage borrowed = Storage::borrowed(memory);
  Storage copy = borrowed;
  EXPECT_EQ(copy, borrowed);
  copy[0] = std::byte{9};
  EXPECT_EQ(memory[0], std::byte{1});
  borrowed[1] = std::byte{8};
  EXPECT_EQ(memory[1], std::byte{8});
}

TEST(Storage, BorrowedStorageMovesWithoutACopy) {
  std::array<std::byte, 4> memory{};
  Storage from = Storage::borrowed(memory), to;
  to = std::move(from);
  EXPECT_EQ(to.data(), memory.data());
  Storage own(3, std::byte{5});
  const std::byte* const first = own.data();
  Storage moved = std::move(own);
  EXPECT_EQ(moved.data(), first);
}

TEST(Storage, ResizingDoesNotChangeTheOwner) {
  std::array<std::byte, 2> memory = {std::byte{1}, std::byte{2}};
  Storage storage = Storage::borrowed(memory);
  storage.resize(3);
  EXPECT_EQ(storage, Storage({std::byte{1}, std::byte{2}, std::byte{0}}));
  storage[0] = std::byte{7};
  storage.assign(1, std::byte{6});
  EXPECT_EQ(storage.size(), 1u);
  EXPECT_EQ(memory[0], std::byte{1});
}

constexpr std::size_t large = std::size_t{1} << 35;

TEST(SparseStorage, HasThePiecesThatWereWritten) {
  Storage storage = Storage::sparse(large);
  EXPECT_TRUE(storage.pieces().empty());
  storage[5] = std::byte{1};
  storage[large - 1] = std::byte{2};
  ASSERT_EQ(storage.pieces().size(), 2u);
  EXPECT_EQ(storage.pieces()[0].begin, 0u);
  EXPECT_EQ(storage.pieces()[1].begin + storage.pieces()[1].size, large);
}

TEST(SparseStorage, IsCopiedAndComparedByItsPieces) {
  Storage storage = Storage::sparse(large);
  storage[large / 2] = std::byte{3};
  Storage copy = storage;
  EXPECT_TRUE(copy.is_sparse());
  EXPECT_EQ(copy, storage);
  copy[7] = std::byte{0};  // equals a page that is not stored
  EXPECT_EQ(copy, storage);
  copy[7] = std::byte{1};
  EXPECT_NE(copy, storage);
  EXPECT_NE(storage, copy);
  EXPECT_EQ(pieces_of(storage, copy).size(), 2u);
  copy.copy_from(storage);
  EXPECT_EQ(copy, storage);
}

TEST(Storage, ComparesItsBytes) {
  EXPECT_EQ(Storage(), Storage(0));
  EXPECT_NE(Storage(2), Storage(3));
  EXPECT_NE(Storage(2), Storage(2, std::byte{1}));
}

}  // namespace
}  // namespace assay::spec
