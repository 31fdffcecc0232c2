import ipaddr from 'ipaddr.js'
import { GanglionError } from '../../contract/errors.ts'
import type { RateCounter, Use } from '../../store/rate-counter.ts'

const maxFailures = 5
/** Milliseconds in which they are counted. */
export const signInSpan = 15 * 60_000

/**
 * Bounds how often passwords can be guessed: 5 failures in 15 minutes for an account, known or not, and for an address. Only an
 * attempt that goes on to hash a password is counted, one at a time, so no flood of addresses or accounts makes it grow beyond the
 * hashes of 15 minutes.
 */
export class SignInThrottle {
  readonly #failures: RateCounter

  /** @param failures with a span of {@link signInSpan} */
  constructor(failures: RateCounter) {
    this.#failures = failures
  }

  /**
   * Counts an attempt as a failure until it is forgiven. One at a time in a process.
   * @throws {GanglionError} `rate_limited`, with `retryAfter` in seconds
   */
  async attempt(account: string, address: string): Promise<void> {
    const keys = [addressKey(address), accountKey(account)]
    for (const key of keys) refuseFrom(maxFailures, await this.#failures.read(key))
    // Another node may have counted one meanwhile.
    for (const key of keys) refuseFrom(maxFailures + 1, await this.#failures.add(key, 1))
  }

  /** The attempt succeeded. Other failures of the address stay: they may have been at other accounts. */
  async forgive(account: string, address: string): Promise<void> {
    await this.open(account)
    await this.#failures.add(addressKey(address), -1)
  }

  /** Forgets the failures of an account: its owner has proved who they are in another way. */
  async open(account: string): Promise<void> {
    await this.#failures.remove(accountKey(account))
  }
}

function refuseFrom(points: number, use: Use): void {
  if (use.points < points) return
  const retryAfter = Math.max(1, Math.ceil(use.endsIn / 1000))
  throw new GanglionError('rate_limited', 'Too many failures to sign in. Wait a while, then try again.', { retryAfter })
}

function accountKey(account: string): string {
  return `account ${account}`
}

/** One client of IPv6 has a whole /64 of addresses. */
function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return `address ${address}`
  const parsed = ipaddr.process(address)
  const network = parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()
  return `address ${network}`
}
