#include "assay/spec/storage.hpp"

#include <gtest/gtest.h>

#include <array>

namespace assay::spec {
namespace {

TEST(Storage, ACopyOfWhatWasLentHasBytesOfItsOwn) {
  std::array<std::byte, 4> memory = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Storage lent = Storage::lent(memory);
  Storage copy = lent;
  EXPECT_EQ(copy, lent);
  copy[0] = std::byte{9};
  EXPECT_EQ(memory[0], std::byte{1});
  lent[1] = std::byte{8};
  EXPECT_EQ(memory[1], std::byte{8});
}

TEST(Storage, WhatWasLentMovesWithoutACopy) {
  std::array<std::byte, 4> memory{};
  Storage from = Storage::lent(memory), to;
  to = std::move(from);
  EXPECT_EQ(to.data(), memory.data());
  Storage own(3, std::byte{5});
  const std::byte* const first = own.data();
  Storage moved = std::move(own);
  EXPECT_EQ(moved.data(), first);
}

TEST(Storage, ResizingLeavesTheLenderAlone) {
  std::array<std::byte, 2> memory = {std::byte{1}, std::byte{2}};
  Storage storage = Storage::lent(memory);
  storage.resize(3);
  EXPECT_EQ(storage, Storage({std::byte{1}, std::byte{2}, std::byte{0}}));
  storage[0] = std::byte{7};
  storage.assign(1, std::byte{6});
  EXPECT_EQ(storage.size(), 1u);
  EXPECT_EQ(memory[0], std::byte{1});
}

TEST(Storage, ComparesItsBytes) {
  EXPECT_EQ(Storage(), Storage(0));
  EXPECT_NE(Storage(2), Storage(3));
  EXPECT_NE(Storage(2), Storage(2, std::byte{1}));
}

}  // namespace
}  // namespace assay::spec
