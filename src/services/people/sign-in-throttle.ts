import ipaddr from 'ipaddr.js'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { GanglionError } from '../../contract/errors.ts'

const failures = { points: 5, duration: 15 * 60 }

/**
 * Bounds how often passwords can be guessed: 5 failures in 15 minutes for an account, known or not, and for an address. In
 * memory: since each attempt is counted right before a password is hashed, one at a time, no flood of addresses grows it beyond
 * the hashes of 15 minutes.
 */
export class SignInThrottle {
  readonly #accounts = new RateLimiterMemory(failures)
  readonly #addresses = new RateLimiterMemory(failures)

  /** Counts an attempt as a failure until it is forgiven. @throws {GanglionError} `rate_limited`, with `retryAfter` in seconds */
  async attempt(account: string, address: string): Promise<void> {
    await consume(this.#addresses, networkOf(address))
    await consume(this.#accounts, account)
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

async function consume(limiter: RateLimiterMemory, key: string): Promise<void> {
  try {
    await limiter.consume(key)
  } catch (cause) {
    if (!(cause instanceof RateLimiterRes)) throw cause
    const retryAfter = Math.max(1, Math.ceil(cause.msBeforeNext / 1000))
    throw new GanglionError('rate_limited', 'Too many failures to sign in. Wait a while, then try again.', {
      retryAfter,
    })
  }
}

/** One client of IPv6 has a whole /64 of addresses. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv6' ? parsed.toByteArray().slice(0, 8).join('.') : parsed.toString()
}
