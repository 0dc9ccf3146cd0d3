//! The spill file: records that do not fit into memory while the store fails. Blocking I/O; callers see to that.
//!
//! A line is `LENGTH JSON`, where LENGTH counts the bytes of the JSON: a line that a crash cut short cannot pass for a
//! whole one. Each process writes files of its own and holds a lock on them; a file without one was left behind, and is
//! taken over at the next start.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::queue::Entry;

/// The files, oldest first.
#[derive(Debug)]
pub(super) struct Spill {
    folder: PathBuf,
    files: VecDeque<SpillFile>,
}

#[derive(Debug)]
struct SpillFile {
    path: PathBuf,
    /// Locked as long as it is open.
    file: File,
    /// Where the first record that is not in the store begins.
    read: u64,
    /// Where the next line will begin.
    end: u64,
    /// Lines between the two.
    lines: u64,
    /// Made by this process, and so open for more.
    own: bool,
}

/// Lines read from a file.
#[derive(Debug)]
pub(super) struct Lines {
    /// What they hold.
    pub(super) entries: Vec<Entry>,
    /// How many there were.
    pub(super) count: u64,
    /// Where they end.
    end: u64,
}

impl Spill {
    /// Takes over what earlier runs left in `folder`.
    pub(super) fn adopt(folder: PathBuf) -> Self {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| is_spill(path))
            .collect();
        paths.sort();
        let mut files = VecDeque::new();
        for path in paths {
            match SpillFile::take_over(path.clone()) {
                Ok(Some(file)) => {
                    tracing::info!(
                        target: "store", path = %path.display(), records = file.lines,
                        "taking over records that an earlier run could not write"
                    );
                    files.push_back(file);
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(target: "store", path = %path.display(), %error, "cannot take over a spill file");
                }
            }
        }
        Self { folder, files }
    }

    /// Records in all files.
    pub(super) fn records(&self) -> u64 {
        self.files.iter().map(|file| file.lines).sum()
    }

    /// Appends records, all of them or none.
    pub(super) fn append<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) -> io::Result<()> {
        let mut text = Vec::new();
        let mut lines = 0;
        for entry in entries {
            let json = serde_json::to_vec(entry)?;
            text.extend_from_slice(json.len().to_string().as_bytes());
            text.push(b' ');
            text.extend_from_slice(&json);
            text.push(b'\n');
            lines += 1;
        }
        if !self.files.back().is_some_and(|file| file.own) {
            self.files.push_back(SpillFile::make(&self.folder)?);
        }
        let Some(file) = self.files.back_mut() else {
            return Ok(());
        };
        if let Err(error) = file.file.write_all_at(&text, file.end) {
            // Half a line at the end would only be skipped, but the disk that is full should have its room back.
            let _ = file.file.set_len(file.end);
            return Err(error);
        }
        file.end += text.len() as u64;
        file.lines += lines;
        Ok(())
    }

    /// Up to `max` records from the oldest file, which keeps them until [`Self::done`].
    pub(super) fn read(&mut self, max: usize) -> io::Result<Option<Lines>> {
        self.files.front_mut().map(|file| file.read(max)).transpose()
    }

    /// The lines are in the store, or given up. A file without others is removed.
    pub(super) fn done(&mut self, lines: &Lines) {
        let Some(file) = self.files.front_mut() else {
            return;
        };
        file.read = lines.end;
        file.lines = file.lines.saturating_sub(lines.count);
        if file.read >= file.end {
            self.remove_front();
        }
    }

    /// Gives the oldest file up, since it cannot be read, and says how many records that loses. It stays on the disk.
    pub(super) fn give_up(&mut self) -> u64 {
        self.files.pop_front().map_or(0, |file| file.lines)
    }

    fn remove_front(&mut self) {
        if let Some(file) = self.files.pop_front()
            && let Err(error) = std::fs::remove_file(&file.path)
        {
            tracing::warn!(target: "store", path = %file.path.display(), %error, "cannot remove a spill file");
        }
    }
}

impl SpillFile {
    fn make(folder: &Path) -> io::Result<Self> {
        // SECURITY: records hold query strings, client addresses and environments.
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // Version 7 ids sort by time, and so do the files.
        let path = folder.join(format!("spill-{}.jsonl", uuid::Uuid::now_v7()));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.lock()?;
        Ok(Self {
            path,
            file,
            read: 0,
            end: 0,
            lines: 0,
            own: true,
        })
    }

    /// A file that no living process holds; `None` if one does.
    fn take_over(path: PathBuf) -> io::Result<Option<Self>> {
        let mut file = OpenOptions::new().read(true).write(true).open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(std::fs::TryLockError::WouldBlock) => return Ok(None),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
        let (mut lines, mut end) = (0, 0);
        let mut reader = BufReader::new(&mut file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if line.last() != Some(&b'\n') {
                break;
            }
            lines += 1;
            end += length as u64;
        }
        if lines == 0 {
            std::fs::remove_file(&path)?;
            return Ok(None);
        }
        Ok(Some(Self {
            path,
            file,
            read: 0,
            end,
            lines,
            own: false,
        }))
    }

    fn read(&mut self, max: usize) -> io::Result<Lines> {
        self.file.seek(SeekFrom::Start(self.read))?;
        let mut reader = BufReader::new(&self.file).take(self.end - self.read);
        let mut lines = Lines {
            entries: Vec::new(),
            count: 0,
            end: self.read,
        };
        let mut line = Vec::new();
        while lines.count < max as u64 {
            line.clear();
            let length = reader.read_until(b'\n', &mut line)?;
            if length == 0 {
                break;
            }
            lines.count += 1;
            lines.end += length as u64;
            lines.entries.extend(entry_of(&line));
        }
        if lines.count == 0 && self.lines > 0 {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "the file has become shorter",
            ));
        }
        Ok(lines)
    }
}

/// The record of a line, if the line is whole.
fn entry_of(line: &[u8]) -> Option<Entry> {
    let line = line.strip_suffix(b"\n")?;
    let space = line.iter().position(|&byte| byte == b' ')?;
    let (length, json) = (line.get(..space)?, line.get(space + 1..)?);
    let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
    if length == json.len() {
        serde_json::from_slice(json).ok()
    } else {
        None
    }
}

fn is_spill(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    name.strip_prefix("spill-")
        .is_some_and(|rest| rest.strip_suffix(".jsonl").is_some())
}
