//! The worker process, which handles one file with limited resources.

use super::formats;
use super::frame::{self, DrawingRequest, Frame, ProgramRequest, Request, Task};
use super::limits::ExtractionLimits;
use super::pdf::document::{self, DocumentLimits};
use super::pdf::drawing::{self, RenderFailure};
use super::pdf::limits::PageLimits;
use super::reader::{PageSource, PagesLimits, Sink, Stopped};
use super::sandbox::{self, Sandbox};
use docent_domain::document::{Failure, FailureCode};
use docent_domain::extraction::{ExtractedPage, Metadata};
use docent_domain::file_type::FileType;
use rlimit::Resource;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

/// The worker's `nice` value: requests to the service have priority over extractions.
const NICENESS: i32 = 10;
/// The worker's `oom_score_adj`: the highest, so that the kernel ends workers before the service when memory
/// is short.
const OOM_SCORE: &str = "1000";

/// Exit code if a program cannot be started, as of shells.
pub(super) const CANNOT_RUN: i32 = 127;
/// Maximum size of a file that a program writes: some libraries keep the image in a temporary file.
const PROGRAM_FILE_BYTES: u64 = 128 << 20;

/// Runs a worker: limits and confines the process, reads a request and a file from standard input, and writes frames
/// to standard output.
///
/// The exit code reports failures of the worker itself; problems of the file are reported in a frame.
pub fn worker_main() -> ExitCode {
    // Only the location of a panic is logged: its message may quote the document.
    std::panic::set_hook(Box::new(|panic| {
        if let Some(location) = panic.location() {
            let _ = writeln!(io::stderr(), "panic at {location}");
        }
    }));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "extraction worker: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let defaults = ExtractionLimits::default();
    limit_process(defaults.memory_bytes, defaults.cpu.as_secs())?;
    // Optional: failing to lower the priorities is not an error. Raising the score needs no privilege.
    // Programs inherit it.
    let _ = rustix::process::nice(NICENESS);
    let _ = std::fs::write("/proc/self/oom_score_adj", OOM_SCORE);
    // Without a buffer, so that the bytes after the request are left to a program.
    let mut stdin = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let request: Request = frame::read(&mut stdin)?;
    limit_process(request.memory_bytes, request.cpu_seconds)?;
    if let Task::Program(program) = &request.task {
        return Err(become_program(program));
    }
    sandbox::run_confined(move |sandbox| handle(&request, sandbox))?
}

/// Replaces this process by a program, which keeps its limits and its standard input and output. Returns only if that
/// fails.
fn become_program(request: &ProgramRequest) -> io::Error {
    let ProgramRequest { program, args, env } = request;
    let limited = Resource::FSIZE.set(PROGRAM_FILE_BYTES, PROGRAM_FILE_BYTES);
    if let Err(error) = limited {
        return error;
    }
    let envs = env.iter().map(|(name, value)| (name, value));
    let error = Command::new(program).args(args).env_clear().envs(envs).exec();
    let _ = writeln!(io::stderr(), "cannot run {}: {error}", program.display());
    std::process::exit(CANNOT_RUN)
}

/// Reads the file from standard input and writes the result to standard output.
fn handle(request: &Request, sandbox: Sandbox) -> io::Result<()> {
    let mut output = FrameSink(BufWriter::with_capacity(64 << 10, io::stdout()));
    let mut bytes = Vec::new();
    io::stdin().take(request.file_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > request.file_bytes {
        output.send(&Frame::failed(Failure::of(FailureCode::TooLarge)))?;
        return output.0.flush();
    }
    match &request.task {
        Task::SandboxCheck => output.send(&Frame::Sandbox(sandbox))?,
        Task::Program(_) => return Err(io::Error::other("programs do not run in this process")),
        Task::Image(drawing) => match draw(bytes, drawing, request) {
            Ok(png) => output.image(&png)?,
            Err(RenderFailure::NoSuchPage) => output.send(&Frame::NoSuchPage)?,
            Err(RenderFailure::Document(failure)) => output.send(&Frame::failed(failure))?,
        },
        Task::Words { page } => match drawing::words(bytes, *page) {
            Ok(lines) => output.send(&Frame::Words { lines })?,
            Err(RenderFailure::NoSuchPage) => output.send(&Frame::NoSuchPage)?,
            Err(RenderFailure::Document(failure)) => output.send(&Frame::failed(failure))?,
        },
        Task::Text { file_type } => {
            let read = match FileType::parse(file_type) {
                Some(FileType::Pdf) => read_pdf(bytes, request, &mut output),
                Some(file_type) => formats::read(file_type, bytes, limits_of(request), &mut output),
                None => return Err(io::Error::other("the type of the file is not known")),
            };
            match read {
                Ok(()) => {}
                Err(Stopped::Document(failure)) => output.send(&Frame::failed(failure))?,
                Err(Stopped::Sink(error)) => return Err(error),
            }
        }
    }
    output.0.flush()
}

fn limits_of(request: &Request) -> PagesLimits {
    PagesLimits { pages: request.pages, text_bytes: request.text_bytes }
}

/// Draws a page of a PDF, or the pictures of a page of another file. Those of an attachment are in the attachment.
fn draw(bytes: Vec<u8>, drawing: &DrawingRequest, request: &Request) -> Result<Vec<u8>, RenderFailure> {
    let file_type = FileType::parse(&drawing.file_type).ok_or(RenderFailure::NoSuchPage)?;
    if file_type == FileType::Pdf {
        return drawing::draw(bytes, drawing);
    }
    match formats::page_source(file_type, bytes.clone(), limits_of(request), drawing.page) {
        Ok(Some(PageSource::Pictures(pictures))) => formats::draw_pictures(bytes, &pictures, drawing.size),
        Ok(Some(PageSource::Attachment { file_type, bytes, page })) => {
            let drawing =
                DrawingRequest { file_type: file_type.as_str().to_owned(), page, ..drawing.clone() };
            draw(bytes, &drawing, request)
        }
        Ok(None) => Err(RenderFailure::NoSuchPage),
        Err(Stopped::Document(failure)) => Err(RenderFailure::Document(failure)),
        Err(Stopped::Sink(_)) => Err(RenderFailure::Document(Failure::of(FailureCode::ExtractionCrashed))),
    }
}

fn read_pdf(bytes: Vec<u8>, request: &Request, output: &mut impl Sink) -> Result<(), Stopped> {
    let (pages, text_bytes, page) = (request.pages, request.text_bytes, PageLimits::default());
    document::read(bytes, &DocumentLimits { pages, text_bytes, page }, output)
}

/// Lowers the resource limits of this process, which the kernel enforces.
fn limit_process(memory_bytes: u64, cpu_seconds: u64) -> io::Result<()> {
    let lower = |resource: Resource, soft: u64, hard: u64| {
        let (_, max) = resource.get()?;
        resource.set(soft.min(max), hard.min(max))
    };
    lower(Resource::AS, memory_bytes, memory_bytes)?;
    // The soft limit's signal tells the parent why the worker died; the hard limit ends a worker that survives it.
    lower(Resource::CPU, cpu_seconds, cpu_seconds.saturating_add(2))?;
    lower(Resource::CORE, 0, 0)
}

struct FrameSink<W: Write>(W);

impl<W: Write> FrameSink<W> {
    fn send(&mut self, frame: &Frame) -> io::Result<()> {
        frame::write(&mut self.0, frame)
    }

    fn image(&mut self, png: &[u8]) -> io::Result<()> {
        let bytes = u32::try_from(png.len()).map_err(|_| io::Error::other("the page image is too large"))?;
        self.send(&Frame::Image { bytes })?;
        self.0.write_all(png)
    }
}

impl<W: Write> Sink for FrameSink<W> {
    fn page(&mut self, page: ExtractedPage) -> io::Result<()> {
        self.send(&Frame::Page(page.into()))
    }

    fn complete(&mut self, pages: u32) -> io::Result<()> {
        self.send(&Frame::Complete { pages })?;
        // Flushed so that the pages arrive even if reading the metadata kills the process.
        self.0.flush()
    }

    fn metadata(&mut self, metadata: Metadata) -> io::Result<()> {
        self.send(&Frame::Metadata(metadata.into()))
    }
}
