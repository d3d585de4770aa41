//! Sandbox of the worker process: what the kernel denies it while it handles a file.
//!
//! The worker needs its standard input and output, memory and processor time, and nothing else. Fonts are part of the
//! program, and no step writes temporary files. Therefore Landlock permits no path at all, the limits permit no further
//! file descriptor, process or thread, and seccomp permits only the system calls that remain. A worker that makes another
//! call is killed, which ends the extraction as crashed.

use rlimit::Resource;
use serde::{Deserialize, Serialize};
use std::io;
use std::thread;

/// Stack for the interpreter's bounded recursion; only used pages take memory.
const STACK_BYTES: usize = 64 << 20;

/// The parts of the sandbox that the kernel enforces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Whether Landlock denies access to files.
    pub landlock: bool,
    /// Whether seccomp denies system calls, among them those for sockets, processes and programs.
    pub seccomp: bool,
}

impl Sandbox {
    /// Names of the parts that the kernel does not enforce.
    pub fn missing(self) -> Vec<&'static str> {
        let parts = [("Landlock", self.landlock), ("seccomp", self.seccomp)];
        parts.into_iter().filter(|(_, enforced)| !enforced).map(|(name, _)| name).collect()
    }
}

/// Runs `task` on its own thread after confining the process for the rest of its life. Parts of the sandbox that the
/// kernel does not have are left out. Must be called by the only thread of the process.
///
/// # Errors
/// If the process cannot be confined, or `task` panics.
pub fn run_confined<T: Send + 'static>(task: impl FnOnce(Sandbox) -> T + Send + 'static) -> io::Result<T> {
    // Landlock applies to the calling thread and to threads that it starts later.
    let landlock = kernel::deny_paths()?;
    let confined = move || {
        deny_resources()?;
        let seccomp = kernel::deny_calls()?;
        Ok(task(Sandbox { landlock, seccomp }))
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(confined)?;
    thread.join().map_err(|_| io::Error::other("the interpreter panicked"))?
}

/// Denies further file descriptors, processes, threads and file contents. Open descriptors and running threads remain.
fn deny_resources() -> io::Result<()> {
    [Resource::NOFILE, Resource::NPROC, Resource::FSIZE]
        .into_iter()
        .try_for_each(|resource| resource.set(0, 0))
}

#[cfg(target_os = "linux")]
mod kernel {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetError, RulesetStatus, Scope,
    };
    use libc::c_long;
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
        SeccompRule, TargetArch, apply_filter_all_threads,
    };
    use std::collections::BTreeMap;
    use std::io;

    /// The newest Landlock version whose rules are requested; older kernels enforce those that they have.
    const LANDLOCK: ABI = ABI::V6;

    /// Calls that the allocator, the interpreter thread and the pipes need.
    const ALLOWED: &[c_long] = &[
        libc::SYS_brk,
        libc::SYS_clock_gettime,
        libc::SYS_close,
        libc::SYS_exit,
        libc::SYS_exit_group,
        libc::SYS_futex,
        libc::SYS_getpid,
        libc::SYS_getrandom,
        libc::SYS_gettid,
        libc::SYS_madvise,
        libc::SYS_mremap,
        libc::SYS_munmap,
        libc::SYS_read,
        libc::SYS_readv,
        libc::SYS_restart_syscall,
        libc::SYS_rseq,
        libc::SYS_rt_sigaction,
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_yield,
        libc::SYS_set_robust_list,
        libc::SYS_sigaltstack,
        libc::SYS_write,
        libc::SYS_writev,
    ];

    /// Calls by which libraries look for optional information, such as the allocator for the number of processors. They
    /// fail with EPERM, and the libraries continue without it.
    const REFUSED: &[c_long] = &[
        libc::SYS_faccessat,
        libc::SYS_faccessat2,
        libc::SYS_fcntl,
        libc::SYS_fstat,
        libc::SYS_ioctl,
        libc::SYS_lseek,
        libc::SYS_newfstatat,
        libc::SYS_openat,
        libc::SYS_readlinkat,
        libc::SYS_statx,
        libc::SYS_uname,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_access,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_readlink,
        #[cfg(target_arch = "x86_64")]
        libc::SYS_stat,
    ];

    /// Denies all access to files, TCP ports, and abstract sockets and signals of other processes. Returns whether the
    /// kernel enforces it for files.
    pub(super) fn deny_paths() -> io::Result<bool> {
        let restrict = || -> Result<RulesetStatus, RulesetError> {
            let rules = Ruleset::default()
                .handle_access(AccessFs::from_all(LANDLOCK))?
                .handle_access(AccessNet::from_all(LANDLOCK))?
                .scope(Scope::from_all(LANDLOCK))?;
            Ok(rules.create()?.restrict_self()?.ruleset)
        };
        Ok(restrict().map_err(io::Error::other)? != RulesetStatus::NotEnforced)
    }

    /// Denies all threads all system calls but [`ALLOWED`] ones. Returns whether the kernel enforces it.
    pub(super) fn deny_calls() -> io::Result<bool> {
        // Of two filters the stricter answer counts, and the second one denies the call that installs filters.
        let refused = filter(
            REFUSED.iter().map(|call| (*call, Vec::new())),
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM.cast_unsigned()),
        )?;
        let allowed = ALLOWED.iter().chain(REFUSED).map(|call| (*call, Vec::new()));
        let allowed = allowed.chain(restricted_calls()?);
        let allowed = filter(allowed, SeccompAction::KillProcess, SeccompAction::Allow)?;
        for program in [&refused, &allowed] {
            match apply_filter_all_threads(program) {
                Ok(()) => {}
                // The kernel, or a container around this process, has no seccomp filters.
                Err(seccompiler::Error::Prctl(_) | seccompiler::Error::Seccomp(_)) => return Ok(false),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
        Ok(true)
    }

    /// Calls that are allowed with some arguments: memory without execution, and signals to this process, by which it
    /// aborts.
    fn restricted_calls() -> io::Result<[(c_long, Vec<SeccompRule>); 3]> {
        let no_execution = || rule(2, SeccompCmpOp::MaskedEq(bits(libc::PROT_EXEC)), 0);
        Ok([
            (libc::SYS_mmap, vec![no_execution()?]),
            (libc::SYS_mprotect, vec![no_execution()?]),
            (libc::SYS_tgkill, vec![rule(0, SeccompCmpOp::Eq, u64::from(std::process::id()))?]),
        ])
    }

    fn bits(flags: libc::c_int) -> u64 {
        u64::from(flags.cast_unsigned())
    }

    fn rule(argument: u8, compare: SeccompCmpOp, value: u64) -> io::Result<SeccompRule> {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value);
        condition.and_then(|condition| SeccompRule::new(vec![condition])).map_err(io::Error::other)
    }

    fn filter(
        calls: impl Iterator<Item = (c_long, Vec<SeccompRule>)>,
        other: SeccompAction,
        listed: SeccompAction,
    ) -> io::Result<BpfProgram> {
        let calls: BTreeMap<_, _> = calls.collect();
        let compile = || {
            let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
            SeccompFilter::new(calls, other, listed, architecture)?.try_into()
        };
        compile().map_err(|error: seccompiler::BackendError| io::Error::other(error))
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    pub(super) fn deny_paths() -> std::io::Result<bool> {
        Ok(false)
    }

    pub(super) fn deny_calls() -> std::io::Result<bool> {
        Ok(false)
    }
}
