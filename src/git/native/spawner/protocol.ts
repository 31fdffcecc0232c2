import type { End, Order } from './launch.ts'

/**
 * Protocol of a process and its spawner. Messages go over the channel of `child_process.fork`. The streams of a program are
 * connections to the spawner's Unix socket. Each begins with a line that {@link connectionHead} makes; what follows is the
 * program's own, and may be sent once the spawner has answered `started`.
 */
export type ToSpawner =
  | { kind: 'start'; id: string; order: Order }
  /** Asks for `failed`, unless the program runs or has ended. */
  | { kind: 'cancel'; id: string }
  | { kind: 'kill'; id: string; signal: NodeJS.Signals }

export type FromSpawner =
  | { kind: 'listening'; path: string }
  | { kind: 'started'; id: string; pid: number }
  /** `isSpent`: the spawner has lost file descriptors, and should be replaced. */
  | { kind: 'failed'; id: string; message: string; isSpent: boolean }
  | { kind: 'ended'; id: string; end: End }

/** File descriptors that need a connection: standard input if there is one, standard output, the channels. */
export function connectedDescriptors({ hasInput, channels }: Order): number[] {
  return [...(hasInput ? [0] : []), 1, ...Array.from({ length: channels }, (_, index) => 3 + index)]
}

/** The first line of a connection: for which program, known by an id that nobody can guess, and for which file descriptor. */
export function connectionHead(id: string, descriptor: number): string {
  return `${id} ${descriptor}\n`
}

/** Longer than any head. */
export const maxConnectionHead = 64

export function parseConnectionHead(line: string): { id: string; descriptor: number } {
  const [id = '', descriptor] = line.split(' ')
  return { id, descriptor: Number(descriptor) }
}
