#include "ops/choice/tune_file.hpp"

#include "host/system/private_folder.hpp"

namespace kaio::ops {

namespace {

host::private_folder open_folder(bool create) { return {"tune", create}; }

std::string file_name(std::string_view device) { return "device-" + tune_digest(device); }

}  // namespace

std::string tune_folder(bool create) { return open_folder(create).path(); }

tune_map read_tuning(std::string_view device) {
  return parse_tuning(open_folder(false).read(file_name(device)), device);
}

bool write_tuning(std::string_view device, std::string_view key, std::string_view variant) {
  if (!is_tune_word(key) || !is_tune_word(variant) || device.find('\n') != std::string_view::npos)
    return false;
  return open_folder(true).update(file_name(device), [&](const std::string& old) {
    tune_map all = parse_tuning(old, device);
    all.insert_or_assign(std::string(key), std::string(variant));
    return print_tuning(all, device);
  });
}

}  // namespace kaio::ops
