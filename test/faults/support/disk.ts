import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { tempDir } from '../../support/temp.ts'

/** Whether to do without mounts although they would work: so that both ways can be tried on one machine. */
const mountsAllowed = process.env.FAULT_MOUNTS !== 'no'

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

/** A disk in memory of a few megabytes, or undefined where this process may not mount one. */
export function smallDisk(megabytes: number): string | undefined {
  const mountPoint = tempDir()
  if (!mountsAllowed || !run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m`, 'none', mountPoint)) return undefined
  onTestFinished(() => void run('umount', '--lazy', mountPoint))
  return mountPoint
}

/** Takes what is left of a disk. @returns how to give it back. */
export function fillUp(mountPoint: string): () => void {
  const path = join(mountPoint, 'ballast')
  const file = openSync(path, 'w')
  try {
    for (const size of [1 << 20, 1 << 12, 1]) {
      const piece = Buffer.alloc(size, 1)
      while (isWritten(file, piece));
    }
  } finally {
    closeSync(file)
  }
  return () => rmSync(path)
}

function isWritten(file: number, piece: Buffer): boolean {
  try {
    return writeSync(file, piece) > 0
  } catch {
    return false
  }
}

/** ioctl(EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH), through any file. */
const shutDown = 'open(my $f, "<", $ARGV[0]) or die; my $how = pack("L", 2); ioctl($f, 0x8004587D, $how) or die'

/** An ext4 file system in a file. */
export type LoopDisk = {
  mountPoint: string
  /** Power off: what has not been flushed is gone, the journal's last entries too. */
  cut(): void
  /** Power on again. */
  mount(): void
}

/** A disk whose power can be cut, or undefined where this process may not make one. */
export function loopDisk(megabytes: number): LoopDisk | undefined {
  const folder = tempDir()
  const [image, mountPoint] = [join(folder, 'image'), join(folder, 'mnt')]
  mkdirSync(mountPoint)
  const mount = () => run('mount', '-o', 'loop', image, mountPoint)
  const isMade =
    mountsAllowed &&
    run('perl', '-v') &&
    run('truncate', '-s', `${megabytes}M`, image) &&
    run('mkfs.ext4', '-q', image) &&
    mount()
  if (!isMade) return undefined
  const breaker = join(mountPoint, 'breaker')
  writeFileSync(breaker, '')
  if (!run('sync', breaker)) return undefined
  onTestFinished(() => void run('umount', '--lazy', mountPoint))
  return {
    mountPoint,
    cut() {
      if (!run('perl', '-e', shutDown, breaker)) throw new Error('The power could not be cut.')
    },
    mount() {
      if (!run('umount', mountPoint) || !mount()) throw new Error('The disk could not be mounted again.')
    },
  }
}
