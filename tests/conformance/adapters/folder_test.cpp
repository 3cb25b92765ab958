#include "process/folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

/// A temporary folder must be removed together with everything that a kernel left in it.
namespace assay::adapters {
namespace {

namespace fs = std::filesystem;

/// Lets an unprivileged child process create a temporary folder and call `act` in it. Returns the
/// paths that then remain in the parent folder.
std::vector<fs::path> left_over(const std::function<void(const Folder&)>& act,
                                bool may_do_everything = false) {
  std::string below = (fs::temp_directory_path() / "assay-XXXXXX").string();
  EXPECT_NE(mkdtemp(below.data()), nullptr);
  fs::permissions(below, fs::perms(0777));
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t nobody = 65534;  // not root: root may enter every folder
    setenv("TMPDIR", below.c_str(), 1);
    if (!may_do_everything && geteuid() == 0 && (setgid(nobody) != 0 || setuid(nobody) != 0))
      _exit(1);
    act(Folder());
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  const auto denied = fs::directory_options::skip_permission_denied;
  const std::vector<fs::path> left{fs::recursive_directory_iterator(below, denied), {}};
  fs::remove_all(below);
  return left;
}

TEST(Folder, IsRemovedWithFoldersWithoutPermissions) {
  const auto left = left_over([](const Folder& folder) {
    fs::create_directories(folder / "outer/inner");
    std::ofstream(folder / "outer/inner/file") << "text";
    for (const char* name : {"outer/inner", "outer", ""}) chmod((folder / name).c_str(), 0);
  });
  EXPECT_TRUE(left.empty()) << left.front();
}

/// The nesting of the folders is deeper than the limit of open file descriptors.
TEST(Folder, IsRemovedAtAnyDepth) {
  const auto left = left_over([](const Folder& folder) {
    const rlimit few{40, 40};
    setrlimit(RLIMIT_NOFILE, &few);
    if (chdir((folder / "").c_str()) != 0) _exit(1);
    for (int k = 0; k < 200; ++k) {
      std::ofstream("file") << k;
      if (mkdir("folder", 0700) != 0 || chdir("folder") != 0) _exit(1);
    }
  });
  EXPECT_TRUE(left.empty()) << left.front();
}

TEST(Folder, IsRemovedWithManyFilesAndEqualFolderNames) {
  const auto left = left_over([](const Folder& folder) {
    for (int k = 0; k < 100; ++k) {
      const std::string name = "folder" + std::to_string(k);
      fs::create_directories(folder / name / "same/same");
      std::ofstream(folder / name / "file") << k;
    }
  });
  EXPECT_TRUE(left.empty()) << left.front();
}

TEST(Folder, FollowsNoLink) {
  const auto left = left_over([](const Folder& folder) {
    const fs::path other = fs::temp_directory_path() / "other";
    fs::create_directory(other);
    std::ofstream(other / "file") << "text";
    fs::create_directory(folder / "inner");
    fs::create_symlink(other, folder / "inner/link");
    fs::create_symlink(other, folder / "link");
    fs::create_hard_link(other / "file", folder / "file");
  });
  ASSERT_EQ(left.size(), 2u);
  EXPECT_EQ(left.front().filename(), "other");
  EXPECT_EQ(left.back().filename(), "file");
}

bool is_fixed(const fs::path& path, int attribute) {
  const int file = open(path.c_str(), O_RDONLY);
  const bool done = ioctl(file, FS_IOC_SETFLAGS, &attribute) == 0;
  close(file);
  return done;
}

/// The file attribute "append-only" prevents even root from removing a file.
TEST(Folder, IsRemovedWithImmutableFiles) {
  {
    const Folder folder;
    std::ofstream(folder / "file") << "text";
    if (!is_fixed(folder / "file", FS_APPEND_FL))
      GTEST_SKIP() << "this system does not allow append-only files";
  }
  const auto left = left_over(
      [](const Folder& folder) {
        fs::create_directories(folder / "outer/inner");
        for (const char* name : {"file", "outer/file", "outer/inner/file"})
          std::ofstream(folder / name) << "text";
        for (const char* name : {"file", "outer/file", "outer/inner/file", "outer/inner", "outer"})
          if (!is_fixed(folder / name, FS_IMMUTABLE_FL)) _exit(1);
        if (!is_fixed(folder / "", FS_APPEND_FL)) _exit(1);
      },
      true);
  EXPECT_TRUE(left.empty()) << left.front();
}

}  // namespace
}  // namespace assay::adapters
