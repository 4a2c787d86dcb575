"""The last words of programs, as the runtimes of their languages write them."""

import pytest

from fritillary.core.lastwords import last_words

NODE = """
/bots/a.js:2
function f() { throw new GameError("no such tile:\\n  more about it\\nand more"); }
               ^

GameError: no such tile:
  more about it
and more
    at f (/bots/a.js:2:26)
    at Object.<anonymous> (/bots/a.js:3:1)
    at node:internal/main/run_main_module:28:49 {
  code: 'E_TILE',
  at: { x: 1, y: [ 1, 2 ] }
}

Node.js v20.20.2
"""

REJECTED = """
node:internal/process/promises:389
      new UnhandledPromiseRejection(reason);
      ^

UnhandledPromiseRejection: This error originated in a promise: "boom".
    at throwUnhandledRejectionsMode (node:internal/process/promises:389:7) {
  code: 'ERR_UNHANDLED_REJECTION'
}

Node.js v20.20.2
"""

OLDER = """
[UnhandledPromiseRejection: The promise rejected with the reason "boom".] {
  code: 'ERR_UNHANDLED_REJECTION'
}

Node.js v18.19.0
"""

CAUSE = """
Error: later
    at /bots/e.js:1:51
    ... 6 lines matching cause stack trace ...
    at node:internal/main/run_main_module:28:49 {
  [cause]: TypeError: first
      at /bots/e.js:1:78
}

Node.js v20.20.2
"""

THROWN = """

/bots/c.js:1
throw "boom"
^
boom
(Use `node --trace-uncaught ...` to show where the exception was thrown)

Node.js v20.20.2
"""

HEAP = """
<--- Last few GCs --->
FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap full
----- Native stack trace -----

 1: 0xb8d0a3 node::OOMErrorHandler(char const*, v8::OOMDetails const&) [node]
10: 0x7fcd15bd9ef6
"""

PANIC = """
panic: runtime error: index out of range [3] with length 0

goroutine 1 [running]:
main.f(...)
\t/bots/main.go:3
main.main()
\t/bots/main.go:6 +0x11f
exit status 2
"""

SEGMENT = """
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x0 pc=0x489464]

goroutine 1 [running]:
main.main()
\t/bots/main.go:7 +0xc4
"""

AGAIN = """
panic: boom
\tsecond [recovered, repanicked]

goroutine 34 gp=0x3c498c [running, locked to thread]:
main.main.func2()
\t/bots/main.go:10 +0x18
created by main.main in goroutine 1
\t/bots/main.go:9 +0x1d
"""

DEADLOCK = """
fatal error: all goroutines are asleep - deadlock!

goroutine 1 [chan receive]:
main.main()
\t/bots/main.go:9 +0xf9
"""

JAVA = """
Exception in thread "main" java.lang.IllegalStateException: no book
\tat Main.main(Main.java:3)
Caused by: java.io.IOException: gone
\tat Main.read(Main.java:9)
\t... 1 more
"""

RUST = """
thread 'main' panicked at src/main.rs:2:5:
no such tile
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""

TRACED = """
thread 'main' (28785) panicked at r.rs:1:88:
index out of bounds:
the len is 0 but the index is 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/5980/library/std/src/panicking.rs:689:5
   1: <usize as core::slice::index::SliceIndex<[T]>>::index
   2: r::f
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""

FULLY_TRACED = """
thread '<unnamed>' panicked at r.rs:1:88:
no such tile
stack backtrace:
   0:     0x562cdf953fea - std[e28293b1aa0f68bd]::backtrace_rs::backtrace::trace
                               at /rustc/library/std/src/libunwind.rs:117:9
  37:     0x5608f4afe7f1 - _start
  38:                0x0 - <unknown>
"""

OLD_RUST = """
thread 'main' panicked at 'no such tile', src/main.rs:2:5
stack backtrace:
   0: rust_begin_unwind
note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.
"""

GROUP = """
  + Exception Group Traceback (most recent call last):
  |   File "/bots/bot.py", line 7, in <module>
  |     asyncio.run(main())
  |     ^^^^^^^^^^^^^^^^^^^
  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | Exception Group Traceback (most recent call last):
    |   File "/bots/bot.py", line 6, in main
    |     raise me from None
    | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)
    +-+---------------- 1 ----------------
      | Traceback (most recent call last):
      |   File "/bots/bot.py", line 3, in a
      |     tiles["x"]
      | KeyError: 'x'
      |
      | During handling of the above exception, another exception occurred:
      |
      | Traceback (most recent call last):
      |   File "/bots/bot.py", line 5, in a
      |     raise ValueError("no such tile")
      | ValueError: no such tile
more about it
      +------------------------------------
    +---------------- 2 ----------------
    | TypeError: another
    +------------------------------------
"""

PANIC_AGAIN = """
panic: first [recovered]
\tpanic: again: first
\tmore about it

goroutine 1 [running]:
main.main.func1()
\t/bots/main.go:3 +0x54
exit status 2
"""

ADDRESSES = """
=================================================================
==28368==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000011
READ of size 1 at 0x602000000011 thread T0
    #0 0x5591045621d6 in main /bots/s.c:2

SUMMARY: AddressSanitizer: heap-use-after-free /bots/s.c:2 in main
Shadow bytes around the buggy address:
=>0x0c047fff8000: fa fa[fd]fa fa fa fa fa fa fa fa fa fa fa fa fa
Shadow byte legend (one shadow byte represents 8 application bytes):
  Addressable:           00
  Right alloca redzone:    cb
==28368==ABORTING
"""

PYTHON = """
Traceback (most recent call last):
  File "/bots/bot.py", line 3, in <module>
    raise ValueError("no such tile")
ValueError: no such tile
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (NODE, "GameError: no such tile:"),
        (
            REJECTED,
            'UnhandledPromiseRejection: This error originated in a promise: "boom".',
        ),
        (
            OLDER,
            '[UnhandledPromiseRejection: The promise rejected with the reason "boom".]',
        ),
        (CAUSE, "Error: later"),
        (THROWN, "boom"),
        (
            HEAP,
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap full",
        ),
        (PANIC, "panic: runtime error: index out of range [3] with length 0"),
        (
            SEGMENT,
            "panic: runtime error: invalid memory address or nil pointer dereference",
        ),
        (AGAIN, "panic: boom"),
        (DEADLOCK, "fatal error: all goroutines are asleep - deadlock!"),
        (JAVA, "Caused by: java.io.IOException: gone"),
        (RUST, "no such tile"),
        (TRACED, "index out of bounds:"),
        (FULLY_TRACED, "no such tile"),
        (OLD_RUST, "thread 'main' panicked at 'no such tile', src/main.rs:2:5"),
        (GROUP, "ValueError: no such tile"),
        (PANIC_AGAIN, "panic: again: first"),
        (
            ADDRESSES,
            "SUMMARY: AddressSanitizer: heap-use-after-free /bots/s.c:2 in main",
        ),
        (PYTHON, "ValueError: no such tile"),
        ("no such file\n", "no such file"),
        ("what is wrong:\n  no such file\n", "no such file"),
        ("at least two seats\n", "at least two seats"),
        ("", ""),
        (" \n\n", ""),
        ("2024 no such book\nexit status 1\n", "2024 no such book"),
        ('one\n{\n  "a": 1\n}\n', "one"),
    ],
    ids=[
        *("node", "rejected", "rejected-18", "cause", "thrown", "heap"),
        *("panic", "signal", "repanicked", "deadlock", "java", "rust"),
        *("rust-traced", "rust-fully", "rust-old", "group", "panic-again", "addresses"),
        "python",
        *(
            "one-line",
            "indented",
            "at-least",
            "nothing",
            "blank",
            "exit-status",
            "json",
        ),
    ],
)
def test_the_line_that_names_the_error_is_found(text, words):
    assert last_words(text) == words
    assert last_words(f"ready\n\n{text}") == (words or "ready")


def test_what_a_program_says_after_its_stack_is_what_counts():
    assert last_words(f"{NODE}error: the bot failed\n") == "error: the bot failed"
    assert last_words(f"{PANIC}\nrestarting\n") == "restarting"


def test_a_stack_without_an_error_is_better_than_nothing():
    assert last_words("    at nothing\n}\n") == "}"
