//! What a program finds when it starts, and why some do not start.

use std::fs::OpenOptions;

use super::*;

async fn output(program: &Program) -> String {
    String::from_utf8(program.run(Body::Empty).await.output).unwrap()
}

#[tokio::test]
async fn signals_have_their_defaults_and_none_is_blocked() {
    // The test itself runs with SIGPIPE ignored, as every Rust program does.
    let status = output(&Program::existing("/bin/cat").args(&["/proc/self/status"])).await;
    for field in ["SigIgn", "SigBlk"] {
        let line = status.lines().find(|line| line.starts_with(field)).unwrap();
        assert_eq!(line.split_whitespace().nth(1), Some("0000000000000000"), "{line}");
    }
}

#[tokio::test]
async fn only_the_three_standard_descriptors_are_open() {
    // A descriptor that is inherited on exec, as the host may have got some from whoever started it.
    let inheritable = rustix::io::dup(fs::File::open("/dev/null").unwrap()).unwrap();
    let listing = output(&Program::existing("/bin/ls").args(&["-1", "/proc/self/fd"])).await;
    // The fourth is the one it lists with.
    assert_eq!(listing, "0\n1\n2\n3\n");
    drop(inheritable);
}

#[tokio::test]
async fn it_leads_its_own_group_in_its_folder_under_the_name_it_was_given() {
    let mut program =
        Program::existing("/bin/sh").args(&["-c", "ps -o pgid= -p $$ | tr -d ' '; echo $$; pwd; echo $0"]);
    program.native.working_dir = fs::canonicalize(program.folder.path()).unwrap();
    let seen = output(&program).await;
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines[0], lines[1]);
    assert_eq!(
        lines[2..],
        [program.native.working_dir.to_str().unwrap(), "/bin/sh"]
    );
}

#[tokio::test]
async fn an_interpreter_gets_no_arguments() {
    let mut program = Program::script(r#"printf '[%s]' "$@""#).args(&["-s", "a b", ""]);
    assert_eq!(output(&program).await, "[-s][a b][]");
    program.native.interpreter = Some(program.native.path.clone());
    assert_eq!(output(&program).await, "[]");
}

#[tokio::test]
async fn its_environment_is_that_of_the_invocation_and_nothing_else() {
    let program = Program::existing("/usr/bin/env");
    let mut invocation = program.invocation(Body::Empty);
    assert!(invocation.environment.set(b"QUERY_STRING", b"a=b=c"));
    assert!(invocation.environment.set(b"HTTP_X", b"\xff\n"));
    let mut running = Fork::new().start(invocation).await.unwrap();
    assert_eq!(
        read(&mut running.output).await.0,
        b"QUERY_STRING=a=b=c\nHTTP_X=\xff\n\n"
    );
}

#[tokio::test]
async fn limits_are_in_force() {
    // The program looks when it has read its body: it may start a moment before the limits do.
    let program = Program::script("read go; cat /proc/self/limits").limits(|limits| {
        limits.cpu = Duration::from_millis(2_500);
        limits.memory = 100 << 20;
    });
    let table = String::from_utf8(program.run(body(vec![Ok("go\n".into())])).await.output).unwrap();
    let row = |name: &str| {
        let row = table.lines().find(|line| line.starts_with(name)).unwrap();
        row[name.len()..]
            .split_whitespace()
            .take(2)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("Max cpu time"), ["3", "4"]);
    assert_eq!(row("Max data size"), ["104857600", "104857600"]);
    assert_eq!(row("Max core file size"), ["0", "0"]);
}

#[tokio::test]
async fn refusals_name_their_cause() {
    let relative = Program::existing("/bin/true");
    let relative = Program {
        native: Native {
            path: "bin/true".into(),
            ..relative.native.clone()
        },
        ..relative
    };
    let lost = Program::existing("/bin/true");
    let lost = Program {
        native: Native {
            working_dir: "/none".into(),
            ..lost.native.clone()
        },
        ..lost
    };
    let no_interpreter = Program::file(b"#!/none\n");
    let no_first_line = Program::file(b"echo hello\n");
    no_interpreter.permit(0o755);
    no_first_line.permit(0o755);
    let cases: [(Program, &str); 7] = [
        (Program::existing("/bin/none"), "No such file"),
        (no_interpreter, "interpreter or loader"),
        (lost, "folder /none does not exist"),
        (Program::file(b"#!/bin/sh\n"), "executable bit"),
        (no_first_line, "first line"),
        (Program::existing("/bin/true").args(&["a\0b"]), "NUL"),
        (relative, "absolute"),
    ];
    for (program, expected) in cases {
        let error = program.start(Body::Empty).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        let not_found = matches!(
            expected,
            "No such file" | "interpreter or loader" | "folder /none does not exist"
        );
        assert_eq!(
            matches!(error, StartError::NotFound { .. }),
            not_found,
            "{error:?}"
        );
        assert_eq!(
            matches!(error, StartError::NotExecutable { .. }),
            expected == "executable bit",
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn arguments_too_large_for_the_system_are_told_apart() {
    let long = "x".repeat(200_000);
    let error = Program::existing("/bin/true")
        .args(&[&long])
        .start(Body::Empty)
        .await
        .unwrap_err();
    assert!(matches!(error, StartError::TooLarge { .. }), "{error:?}");
}

#[tokio::test]
async fn a_program_that_is_being_replaced_is_waited_for() {
    let program = Program::file(&fs::read("/bin/true").unwrap());
    program.permit(0o755);
    let impatient =
        Program::existing(&program.native.path).limits(|limits| limits.wall = Duration::from_millis(50));
    let writer = OpenOptions::new()
        .append(true)
        .open(&program.native.path)
        .unwrap();
    let starting = program.start(Body::Empty);
    tokio::pin!(starting);
    assert!(
        tokio::time::timeout(Duration::from_millis(60), &mut starting)
            .await
            .is_err()
    );
    drop(writer);
    let running = starting.await.unwrap();
    assert_eq!(running.finished.await.unwrap().exit, crate::Exit::Code(0));

    let _writer = OpenOptions::new()
        .append(true)
        .open(&program.native.path)
        .unwrap();
    let error = impatient.start(Body::Empty).await.unwrap_err();
    assert!(matches!(error, StartError::Exhausted { .. }), "{error:?}");
}
