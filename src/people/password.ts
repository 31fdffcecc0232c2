import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { normalizePassword } from '../contract/people.ts'
import { KeyedLock } from '../system/concurrency/keyed-lock.ts'

const derive = promisify(argon2)

/** Parameters of argon2id recommended by OWASP. `memory` in KiB. */
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const shape = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/

/** Maximum number of queued hashes. Each takes 19 MB, so they run one at a time. */
const hashing = new KeyedLock()
const maxWaiting = 50
let waiting = 0

/** Runs a password hash after those that were queued before. @throws {GanglionError} `unavailable` if too many are queued */
export async function hashInTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (waiting >= maxWaiting) throw new GanglionError('unavailable')
  waiting++
  try {
    return await hashing.run('hash', work)
  } finally {
    waiting--
  }
}

/** Returns `$argon2id$v=19$m=…,t=…,p=…$<salt>$<hash>`, the format of other programs. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const hash = await hashInTurn(() => derive('argon2id', parameters(password, salt, cost)))
  const { memory, passes, parallelism } = cost
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${base64(salt)}$${base64(hash)}`
}

/** Hash that no password matches. Verified against when an account has none, so that both cases take the same time. */
const nobodys = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** True if a password matches a hash. Takes as long without a hash. Call it in turn; see {@link hashInTurn}. */
export async function isPasswordOf(hash: string | null, password: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = shape.exec(hash ?? nobodys) ?? []
  const expected = Buffer.from(tag, 'base64')
  const settings = {
    memory: Number(memory),
    passes: Number(passes),
    parallelism: Number(parallelism),
    tagLength: expected.length,
  }
  const actual = await derive('argon2id', parameters(password, Buffer.from(salt, 'base64'), settings))
  return timingSafeEqual(actual, expected) && hash !== null
}

/** Rejects a password that is easy to guess: a common one, a word of the person, or a simple pattern of these. @throws {ValidationError} */
export async function requireHardPassword(password: string, about: readonly string[]): Promise<void> {
  const { isEasyToGuess } = await import('./common-passwords.ts')
  if (isEasyToGuess(password, about)) {
    throw new ValidationError({ password: ['is easy to guess; three or four unrelated words are not'] })
  }
}

function parameters(password: string, nonce: Buffer, settings: typeof cost): Argon2Parameters {
  return { message: normalizePassword(password), nonce, ...settings }
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
