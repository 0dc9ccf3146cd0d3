//! What programs write for terminals, without the terminal's commands.

/// `text` without escape sequences and other control characters; newlines and tabs stay.
pub(crate) fn strip(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' => plain.push(char),
            '\u{1b}' => match chars.next() {
                // CSI: parameters, then one final byte.
                Some('[') => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
                // OSC and other strings: up to BEL or ST (ESC \).
                Some(']' | 'P' | 'X' | '^' | '_') => loop {
                    match chars.next() {
                        None | Some('\u{7}' | '\u{9c}') => break,
                        Some('\u{1b}') => {
                            chars.next_if_eq(&'\\');
                            break;
                        }
                        Some(_) => {}
                    }
                },
                // Character sets: one more byte.
                Some('(' | ')' | '*' | '+') => {
                    chars.next();
                }
                _ => {}
            },
            '\u{9b}' => while chars.next().is_some_and(|c| !('@'..='~').contains(&c)) {},
            char if char.is_control() => {}
            char => plain.push(char),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn terminal_commands_vanish_and_text_stays() {
        for (raw, plain) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("\u{1b}[1;31mred\u{1b}[0m!", "red!"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link", "link"),
            ("\u{1b}(Bx\r\u{8}\u{0}y", "xy"),
            ("unfinished \u{1b}[31", "unfinished "),
            ("\u{9b}2Jé", "é"),
        ] {
            assert_eq!(strip(raw), plain, "{raw:?}");
        }
    }
}
