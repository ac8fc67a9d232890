// Operations of a warp that count on lanes which take no part: masks that name lanes which ended or never were,
// and shuffles that read no member.

#include "tests/emulator/sanitizer/checked.hpp"

using namespace emulator_test;

namespace {

const checked_launch one_warp{{1, 32}};
const std::string store = "\nmad.lo.u64 %d0, %wide, 4, %p0;\nst.global.u32 [%d0], %r0;\nout:";

// The text is executed by lanes below 20 alone: the others jump past it, or have ended before it.
std::string guarded(const std::string& text) {
  return "mov.u32 %r2, -1; setp.lt.u32 %q0, %tid_, 20;\n@!%q0 bra out;\n" + text + store;
}
std::string after_others_ended(const std::string& text) {
  return "mov.u32 %r2, -1; setp.ge.u32 %q0, %tid_, 20;\n@%q0 exit;\n" + text + store;
}

const std::string operations[] = {"shfl.sync.bfly.b32 %r0, %tid_, 1, 31, %r2;",
                                  "shfl.sync.idx.b32 %r0, %tid_, 0, 31, %r2;",
                                  "vote.sync.ballot.b32 %r0, %q0, %r2;",
                                  "vote.sync.any.pred %q1, %q0, %r2; selp.u32 %r0, 1, 0, %q1;",
                                  "match.any.sync.b32 %r0, %tid_, %r2;",
                                  "match.all.sync.b32 %r0, %tid_, %r2;",
                                  "redux.sync.add.u32 %r0, %tid_, %r2;",
                                  "elect.sync %r0|%q1, %r2;",
                                  "bar.warp.sync %r2; mov.u32 %r0, 1;"};

bool reported(const std::string& body, std::string_view line, checked_launch how = one_warp) {
  return has(body, fault_kind::member_mask, line, how);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

}  // namespace

TEST_CASE("a mask that names lanes which have ended, or end without the operation") {
  for (const std::string& text : operations) {
    INFO(text);
    const std::string_view line = std::string_view(text).substr(0, text.find(';'));
    for (const schedule_kind kind :
         {schedule_kind::round_robin, schedule_kind::reverse, schedule_kind::random}) {
      checked_launch how = one_warp;
      how.order.kind = kind;
      CHECK(reported(guarded(text), line, how));
      CHECK(reported(after_others_ended(text), line, how));
    }
    // Lanes that come are named, and no others; or all lanes come.
    const std::string exact = replaced(text, "%r2", "0x000fffff");
    CHECK(is_clean(guarded(exact), one_warp));
    CHECK(is_clean(after_others_ended(exact), one_warp));
    CHECK(is_clean("mov.u32 %r2, -1; setp.lt.u32 %q0, %tid_, 20;\n" + text + store, one_warp));
  }
  const auto r = checked(guarded(operations[6]), one_warp);
  REQUIRE(r);
  CHECK(contains(r->detail, "a reduction names lanes 0xfff00000 in its member mask 0xffffffff"));
  CHECK(contains(r->detail, "have ended"));
  CHECK(contains(r->advice, "neutral value"));
}

TEST_CASE("lanes that come to the operation later, or on another way, are there") {
  for (const std::string& text : operations) {
    INFO(text);
    const std::string join = "setp.lt.u32 %q0, %tid_, 20;\nmov.u32 %r2, -1;\n@%q0 bra low;\n" + text +
                             "\nbra join;\nlow: mov.u32 %r3, 1;\n" + text + "\njoin:" + store;
    CHECK(is_clean(join, one_warp));
  }
}

TEST_CASE("a partial last warp: what is computed from its lanes names those that exist") {
  checked_launch partial{{1, 48}};
  const std::string low = "setp.lt.u32 %q0, %tid_, 7; mov.u32 %r2, -1;\n";
  for (const std::string& text : operations) {
    INFO(text);
    const bool waits = text.starts_with("bar.warp") || text.starts_with("elect");
    const auto r = checked(low + text + store, partial);
    if (waits) {
      CHECK(!r);
      continue;
    }
    REQUIRE(r);
    CHECK(r->kind == fault_kind::member_mask);
    CHECK(r->warp == 1);
    CHECK(contains(r->detail, "the warp has only lanes 0x0000ffff"));
  }
  const std::string exact = low + "setp.ge.u32 %q2, %tid_, 32; selp.b32 %r2, 0xffff, -1, %q2;\n";
  for (const std::string& text : operations)
    if (!text.starts_with("shfl")) CHECK(is_clean(exact + text + store, partial));
}

TEST_CASE("a shuffle that reads no member gives an undefined value, which may not be used") {
  const std::string from_nobody =
      "setp.ge.u32 %q0, %tid_, 8; @%q0 bra out;\nshfl.sync.idx.b32 %r1, %tid_, 20, 31, 0xff;\n";
  const auto use = [&](const std::string& text) { return from_nobody + text + store; };
  const std::string_view line = "shfl.sync.idx.b32 %r1";
  CHECK(reported(use("mov.u32 %r0, %r1;"), line));
  CHECK(reported(use("mad.lo.u32 %r0, %r1, 3, %tid_;"), line));
  CHECK(reported(use("mov.u32 %r0, 1;\nsetp.gt.u32 %q1, %r1, 4;\n@%q1 bra out;"), line));
  CHECK(reported(use("mov.u32 %r0, 1;\nsetp.gt.u32 %q1, %r1, 4;\n@%q1 mov.u32 %r0, 2;"), line));
  CHECK(reported(
      use("cvt.u64.u32 %d1, %r1; shl.b64 %d1, %d1, 2; add.u64 %d1, %d1, %p0;\nld.global.u32 %r0, [%d1];"),
      line));
  CHECK(reported(use("mov.u32 %r0, 1;\nred.global.add.u32 [%p1], %r1;"), line));
  CHECK(reported(use("shfl.sync.idx.b32 %r0, %r1, 3, 31, 0xff;"), line));
  const auto r = checked(use("mov.u32 %r0, %r1;"), one_warp);
  REQUIRE(r);
  CHECK(contains(r->detail, "lane 0 reads lane 20"));
  CHECK(contains(r->detail, "0x000000ff"));
  CHECK(contains(r->other.ptx_text, "st.global.u32 [%d0], %r0;"));
  // A value that is dropped is not used.
  CHECK(is_clean(use("mov.u32 %r0, 1;"), one_warp));
  CHECK(is_clean(use("add.u32 %r3, %r1, 5; mov.u32 %r1, 7; mov.u32 %r0, %r1;"), one_warp));
  CHECK(is_clean(use("add.u32 %r3, %r1, %tid_; setp.lt.u32 %q1, %tid_, 32; selp.u32 %r0, %tid_, %r3, %q1;"),
                 one_warp));
  CHECK(is_clean(use("setp.ge.u32 %q1, %tid_, 8; setp.gt.u32 %q2, %r1, 4; and.pred %q3, %q1, %q2;\n"
                     "selp.u32 %r0, 1, 2, %q3;"),
                 one_warp));
  CHECK(
      is_clean(use("setp.ge.u32 %q1, %tid_, 8; setp.gt.and.u32 %q3, %r1, 4, %q1;\nselp.u32 %r0, 1, 2, %q3;"),
               one_warp));
}

TEST_CASE(
    "past the end of a partial warp: what a reduction leaves behind may be stored, and not be an address") {
  const checked_launch partial{{1, 20}};
  const std::string sum = "shfl.sync.down.b32 %r1, %tid_, 8, 31, 0xfffff;\nadd.u32 %r0, %r1, 1;\n";
  CHECK(is_clean(sum + store, partial));
  CHECK(reported(sum + "setp.gt.u32 %q1, %r0, 3;\n@%q1 bra out;" + store, "shfl.sync.down", partial));
  CHECK(reported(sum + "mad.wide.u32 %d1, %r0, 4, %p0;\nld.global.u32 %r0, [%d1];" + store, "shfl.sync.down",
                 partial));
  // If the mask leaves out lane 19, this lane is an ordinary one that is no member.
  CHECK(reported(
      "setp.ge.u32 %q0, %tid_, 19; @%q0 bra out;\nshfl.sync.down.b32 %r0, %tid_, 8, 31, 0x7ffff;" + store,
      "shfl.sync.down", partial));
}

TEST_CASE("a shuffle out of range keeps the lane's own value, which is defined") {
  for (const char* text :
       {"shfl.sync.down.b32 %r0, %tid_, 4, 0x1807, 0xff;", "shfl.sync.up.b32 %r0, %tid_, 4, 0, 0xff;",
        "shfl.sync.idx.b32 %r0, %tid_, 5, 31, 0xff;"})
    CHECK(is_clean("setp.ge.u32 %q0, %tid_, 8; @%q0 bra out;\n" + std::string(text) + store, one_warp));
  CHECK(reported(
      "setp.ge.u32 %q0, %tid_, 8; @%q0 bra out;\nshfl.sync.down.b32 %r0, %tid_, 4, 31, 0xff;" + store,
      "shfl.sync.down"));
}

TEST_CASE("operations of a warp are not looked at where the check is left out") {
  checked_launch l = one_warp;
  l.options.checks.set(check::warps, false);
  for (const std::string& text : operations) CHECK(is_clean(guarded(text), l));
  CHECK(is_clean(
      "setp.ge.u32 %q0, %tid_, 8; @%q0 bra out;\nshfl.sync.idx.b32 %r0, %tid_, 20, 31, 0xff;" + store, l));
  l.options.checks = sanitizer_options::parse_checks("warps", "--sanitize");
  CHECK(reported(guarded(operations[0]), "shfl", l));
}
