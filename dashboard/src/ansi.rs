//! What programs write for terminals, without the terminal's commands.

use std::iter::Peekable;
use std::str::Chars;

/// `text` without escape sequences and other control characters; newlines and tabs stay.
pub(crate) fn strip(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\n' | '\t' => plain.push(char),
            '\u{1b}' => match chars.next_if(|next| !next.is_control()) {
                Some('[') => control_sequence(&mut chars),
                // OSC and other strings: up to BEL or ST (ESC \), or to the end of the line of one that is unfinished.
                Some(']' | 'P' | 'X' | '^' | '_') => {
                    while chars.next_if(|next| !next.is_control()).is_some() {}
                    if chars.next_if_eq(&'\u{1b}').is_some() {
                        chars.next_if_eq(&'\\');
                    }
                }
                // Character sets: one more byte.
                Some('(' | ')' | '*' | '+') => {
                    chars.next_if(|next| !next.is_control());
                }
                _ => {}
            },
            '\u{9b}' => control_sequence(&mut chars),
            char if char.is_control() => {}
            char => plain.push(char),
        }
    }
    plain
}

/// CSI: parameters, then one final byte. Whatever else follows the parameters is text after an unfinished one.
fn control_sequence(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|next| matches!(next, ' '..='?')).is_some() {}
    chars.next_if(|next| matches!(next, '@'..='~'));
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
            (
                "unfinished \u{1b}[31\nnext \u{1b}\nline",
                "unfinished \nnext \nline",
            ),
            ("\u{1b}]0;unfinished\nnext", "\nnext"),
            ("\u{1b}[3é", "é"),
            ("\u{9b}2Jé", "é"),
        ] {
            assert_eq!(strip(raw), plain, "{raw:?}");
        }
    }
}
