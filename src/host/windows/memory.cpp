#include "host/system/memory.hpp"

#include <algorithm>
#include <map>

#include "host/lasting.hpp"
#include "host/windows/system.hpp"

namespace kaio::host {
namespace {

constexpr std::size_t committed_at_once = std::size_t{64} << 10;

// Ranges whose pages are committed at their first touch. Windows counts a committed page against the limit of all
// processes even if it is never used, so that large ranges cannot be committed in advance.
class reserved_ranges {
 public:
  reserved_ranges() : handler_(AddVectoredExceptionHandler(1, &commit_touched)) {}
  ~reserved_ranges() { RemoveVectoredExceptionHandler(handler_); }
  reserved_ranges(const reserved_ranges&) = delete;
  reserved_ranges& operator=(const reserved_ranges&) = delete;
  static reserved_ranges& all() {
    static auto& one = *make_lasting<reserved_ranges>();
    return one;
  }
  void add(std::uintptr_t at, std::size_t bytes) {
    AcquireSRWLockExclusive(&lock_);
    ranges_[at] = bytes;
    ReleaseSRWLockExclusive(&lock_);
  }
  void remove(std::uintptr_t at) {
    AcquireSRWLockExclusive(&lock_);
    ranges_.erase(at);
    ReleaseSRWLockExclusive(&lock_);
  }

 private:
  bool commit(std::uintptr_t address) {
    AcquireSRWLockShared(&lock_);
    bool done = false;
    auto next = ranges_.upper_bound(address);
    if (next != ranges_.begin()) {
      const auto [begin, bytes] = *--next;
      if (address - begin < bytes) {
        const std::uintptr_t from = begin + (address - begin) / committed_at_once * committed_at_once;
        const std::size_t size = std::min<std::size_t>(committed_at_once, begin + bytes - from);
        done = VirtualAlloc(reinterpret_cast<void*>(from), size, MEM_COMMIT, PAGE_READWRITE) != nullptr;
      }
    }
    ReleaseSRWLockShared(&lock_);
    return done;
  }

  static LONG CALLBACK commit_touched(EXCEPTION_POINTERS* what) {
    const EXCEPTION_RECORD& record = *what->ExceptionRecord;
    if (record.ExceptionCode != EXCEPTION_ACCESS_VIOLATION || record.NumberParameters < 2)
      return EXCEPTION_CONTINUE_SEARCH;
    return all().commit(record.ExceptionInformation[1]) ? EXCEPTION_CONTINUE_EXECUTION
                                                        : EXCEPTION_CONTINUE_SEARCH;
  }

  void* const handler_;
  SRWLOCK lock_ = SRWLOCK_INIT;
  std::map<std::uintptr_t, std::size_t> ranges_;
};

std::uintptr_t number_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
void* pointer_to(std::uintptr_t at) { return reinterpret_cast<void*>(at); }

bool reserve_at(std::uintptr_t at, std::uint64_t bytes) {
  return bytes == 0 || VirtualAlloc(pointer_to(at), bytes, MEM_RESERVE, PAGE_NOACCESS) != nullptr;
}

std::uintptr_t end_of_allocation(std::uintptr_t begin) {
  MEMORY_BASIC_INFORMATION info{};
  std::uintptr_t end = begin;
  while (VirtualQuery(pointer_to(end), &info, sizeof info) != 0 && number_of(info.AllocationBase) == begin)
    end = number_of(info.BaseAddress) + info.RegionSize;
  return end;
}

// Frees the addresses [at, end). What was reserved around them stays reserved.
bool free_addresses(std::uintptr_t at, std::uintptr_t end) {
  MEMORY_BASIC_INFORMATION info{};
  for (std::uintptr_t now = at; now < end;) {
    if (VirtualQuery(pointer_to(now), &info, sizeof info) == 0) return false;
    if (info.State == MEM_FREE) {
      now = number_of(info.BaseAddress) + info.RegionSize;
      continue;
    }
    const std::uintptr_t begin = number_of(info.AllocationBase), after = end_of_allocation(begin);
    now = after;
    if (info.Type == MEM_MAPPED) {
      if (!UnmapViewOfFile(pointer_to(begin))) return false;
      continue;
    }
    if (!VirtualFree(pointer_to(begin), 0, MEM_RELEASE)) return false;
    if (begin < at && !reserve_at(begin, at - begin)) return false;
    if (after > end && !reserve_at(end, after - end)) return false;
  }
  return true;
}

HANDLE section_of(std::uint64_t pages) { return pointer_to(static_cast<std::uintptr_t>(pages)); }

}  // namespace

std::uint64_t physical_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : std::uint64_t{1} << 32;
}

// The page file bounds what all processes may commit.
std::uint64_t available_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  return GlobalMemoryStatusEx(&status) ? std::min(status.ullAvailPhys, status.ullAvailPageFile)
                                       : std::uint64_t{1} << 32;
}

void* reserve_zeros(std::size_t bytes) {
  void* const pages = VirtualAlloc(nullptr, bytes, MEM_RESERVE, PAGE_READWRITE);
  if (pages != nullptr) reserved_ranges::all().add(number_of(pages), bytes);
  return pages;
}

void release_zeros(void* pages, std::size_t) {
  reserved_ranges::all().remove(number_of(pages));
  VirtualFree(pages, 0, MEM_RELEASE);
}

bool clear_zeros(void* pages, std::size_t bytes) { return VirtualFree(pages, bytes, MEM_DECOMMIT) != 0; }

void* allocate_pages(std::size_t bytes) {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void free_pages(void* pages) { VirtualFree(pages, 0, MEM_RELEASE); }

file_view view_file(const std::string& path) {
  constexpr DWORD others = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const handle file(CreateFileW(system_path(path).c_str(), GENERIC_READ, others, nullptr, OPEN_EXISTING,
                                FILE_ATTRIBUTE_NORMAL, nullptr));
  if (!file) {
    const DWORD code = GetLastError();
    const DWORD what = GetFileAttributesW(system_path(path).c_str());
    if (what != INVALID_FILE_ATTRIBUTES && (what & FILE_ATTRIBUTE_DIRECTORY) != 0)
      return {{}, "it is not a regular file"};
    return {{}, error_of(code).message()};
  }
  LARGE_INTEGER size{};
  if (GetFileType(file.get()) != FILE_TYPE_DISK) return {{}, "it is not a regular file"};
  if (!GetFileSizeEx(file.get(), &size)) return {{}, error_of(GetLastError()).message()};
  if (size.QuadPart == 0) return {};
  const handle section(CreateFileMappingW(file.get(), nullptr, PAGE_READONLY, 0, 0, nullptr));
  const void* const at = section ? MapViewOfFile(section.get(), FILE_MAP_READ, 0, 0, 0) : nullptr;
  if (at == nullptr) return {{}, error_of(GetLastError()).message()};
  return {{static_cast<const std::byte*>(at), static_cast<std::size_t>(size.QuadPart)}, {}};
}

void end_view(std::span<const std::byte> bytes) { UnmapViewOfFile(bytes.data()); }

// Each piece of memory is a section of its own: a section cannot grow. The number of pages is its handle.
shared_memory::shared_memory() : file_(0) {}
shared_memory::~shared_memory() = default;
bool shared_memory::is_ready() const { return true; }

std::uint64_t shared_memory::take(std::uint64_t bytes) {
  const HANDLE section =
      CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, static_cast<DWORD>(bytes >> 32),
                         static_cast<DWORD>(bytes & 0xffffffffu), nullptr);
  if (section == nullptr) return none;
  end_ += bytes;
  return number_of(section);
}

void shared_memory::give_back(std::uint64_t pages, std::uint64_t bytes) {
  end_ -= bytes;
  CloseHandle(section_of(pages));
}

// Between the two calls another thread may take the addresses: then this fails.
bool shared_memory::show(void* at, std::uint64_t pages, std::uint64_t offset, std::uint64_t bytes) const {
  if (!free_addresses(number_of(at), number_of(at) + bytes)) return false;
  if (MapViewOfFileEx(section_of(pages), FILE_MAP_ALL_ACCESS, static_cast<DWORD>(offset >> 32),
                      static_cast<DWORD>(offset & 0xffffffffu), bytes, at) == at)
    return true;
  reserve_at(number_of(at), bytes);
  return false;
}

void* reserve_addresses(std::uint64_t bytes, std::uint64_t alignment) {
  if (bytes + alignment <= bytes) return nullptr;
  constexpr int attempts = 8;  // another thread may take the addresses in between
  for (int i = 0; i < attempts; ++i) {
    void* const got = VirtualAlloc(nullptr, bytes + alignment, MEM_RESERVE, PAGE_NOACCESS);
    if (got == nullptr) return nullptr;
    VirtualFree(got, 0, MEM_RELEASE);
    const std::uintptr_t address = (number_of(got) + alignment - 1) / alignment * alignment;
    if (reserve_at(address, bytes)) return pointer_to(address);
  }
  return nullptr;
}

void release_addresses(void* at, std::uint64_t bytes) {
  free_addresses(number_of(at), number_of(at) + bytes);
}

bool hide_addresses(void* at, std::uint64_t bytes) {
  return free_addresses(number_of(at), number_of(at) + bytes) && reserve_at(number_of(at), bytes);
}

}  // namespace kaio::host
