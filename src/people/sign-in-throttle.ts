import { GanglionError } from '../contract/errors.ts'
import { type Context, onePer } from '../kb/context.ts'
import { clientNetwork } from '../rules/access/client-network.ts'
import { type RateCounter, rateCounter, type Use } from '../state/rate-counter.ts'

/** Maximum failures of one network at one account, or of one remembered device. */
const maxFailures = 5
/** Maximum failures of one network, at all accounts. */
const maxOfNetwork = 20
/** Maximum failures at one account, from all networks: far more than its owner makes, and far too few to find a password. */
const maxOfAccount = 100
/** Milliseconds in which failures are counted. */
export const signInSpan = 15 * 60_000

export const signIns = onePer(
  ({ database: { db }, now }: Context) =>
    new SignInThrottle(rateCounter({ db, now }, { name: 'sign-in', span: signInSpan })),
)

/** Sign-in attempt. `device`: verified id of a browser in which this account has signed in before. */
export type SignInAttempt = { account: string; address: string; device?: string | undefined }

/**
 * Bounds how often passwords can be guessed in 15 minutes: by failures of a network at an account, of a network, and at an account,
 * known or not. A remembered device has a bound of its own and passes the others, so that no stranger's failures lock an owner
 * out. Only an attempt that goes on to hash a password is counted, one at a time, so no flood of addresses or accounts makes it grow
 * beyond the hashes of 15 minutes.
 */
export class SignInThrottle {
  readonly #failures: RateCounter

  /** Creates the throttle. @param failures counter with a span of {@link signInSpan} */
  constructor(failures: RateCounter) {
    this.#failures = failures
  }

  /**
   * Counts an attempt as a failure until it is forgiven. One at a time in a process.
   * @throws {GanglionError} `rate_limited`, with `retryAfter` in seconds
   */
  async attempt(attempt: SignInAttempt): Promise<void> {
    const bounds = boundsOf(attempt)
    for (const [key, most] of bounds) refuseFrom(most, await this.#failures.read(key))
    // Another node may have counted a failure meanwhile.
    for (const [key, most] of bounds) refuseFrom(most + 1, await this.#failures.add(key, 1))
  }

  /** Clears the failures of this network at this account after a successful sign-in. Other counters stay. */
  async forgive(attempt: SignInAttempt): Promise<void> {
    const [[own], ...shared] = boundsOf(attempt)
    await this.#failures.remove(own)
    for (const [key] of shared) await this.#failures.add(key, -1)
  }

  /** Clears the failures at an account whose owner has authenticated in another way. */
  async open({ account, address }: Omit<SignInAttempt, 'device'>): Promise<void> {
    await this.#failures.remove(accountKey(account))
    await this.#failures.remove(pairKey(account, address))
  }
}

type Bound = readonly [key: string, most: number]

/** Returns the counters that limit an attempt. The first belongs to this device, or to this account and network, alone. */
function boundsOf({ account, address, device }: SignInAttempt): [Bound, ...Bound[]] {
  if (device !== undefined) return [[`device ${device}`, maxFailures]]
  return [
    [pairKey(account, address), maxFailures],
    [networkKey(address), maxOfNetwork],
    [accountKey(account), maxOfAccount],
  ]
}

function refuseFrom(points: number, use: Use): void {
  if (use.points < points) return
  const retryAfter = Math.max(1, Math.ceil(use.endsIn / 1000))
  throw new GanglionError('rate_limited', 'Too many failures to sign in. Wait a while, then try again.', { retryAfter })
}

function accountKey(account: string): string {
  return `account ${account}`
}

function pairKey(account: string, address: string): string {
  return `${networkKey(address)} ${accountKey(account)}`
}

function networkKey(address: string): string {
  return `address ${clientNetwork(address)}`
}
