import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible'
import { GanglionError } from '../../contract/errors.ts'

const failures = { points: 5, duration: 15 * 60 }

/**
 * Bounds how often passwords can be guessed: 5 failures in 15 minutes for an account, known or not, and for an address. In
 * memory: only an attempt that goes on to hash a password is counted, one at a time, so no flood of addresses or accounts grows
 * it beyond the hashes of 15 minutes.
 */
export class SignInThrottle {
  readonly #accounts = new RateLimiterMemory(failures)
  readonly #addresses = new RateLimiterMemory(failures)

  /**
   * Counts an attempt as a failure until it is forgiven. One at a time.
   * @throws {GanglionError} `rate_limited`, with `retryAfter` in seconds
   */
  async attempt(account: string, address: string): Promise<void> {
    const network = networkOf(address)
    refuseClosed(await this.#addresses.get(network))
    refuseClosed(await this.#accounts.get(account))
    await this.#addresses.consume(network)
    await this.#accounts.consume(account)
  }

  /** The attempt succeeded. Other failures of the address stay: they may have been at other accounts. */
  async forgive(account: string, address: string): Promise<void> {
    await this.open(account)
    await this.#addresses.reward(networkOf(address))
  }

  /** Forgets the failures of an account: its owner has proved who they are in another way. */
  async open(account: string): Promise<void> {
    await this.#accounts.delete(account)
  }
}

function refuseClosed(state: RateLimiterRes | null): void {
  if (state === null || state.consumedPoints < failures.points || state.msBeforeNext <= 0) return
  const retryAfter = Math.max(1, Math.ceil(state.msBeforeNext / 1000))
  throw new GanglionError('rate_limited', 'Too many failures to sign in. Wait a while, then try again.', { retryAfter })
}

/** One client of IPv6 has a whole /64 of addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()
}
