import { expect, test } from 'vitest'
import { CircuitBreaker, isOutage, ModelPaused, ModelSilent } from '../../src/models/circuit-breaker.ts'

const down = new ModelSilent('it did not answer in time')

/** A breaker, and a clock in milliseconds. */
function newBreaker() {
  const clock = { now: 0 }
  const breaker = new CircuitBreaker(() => clock.now)
  return { breaker, clock, isPaused: () => isPaused(breaker) }
}

function isPaused(breaker: CircuitBreaker): boolean {
  try {
    breaker.begin()(new Error('left'))
    return false
  } catch (error) {
    expect(error).toBeInstanceOf(ModelPaused)
    return true
  }
}

test('after a failure nobody asks for a while, then one does, whose success lets all through', () => {
  const { breaker, clock, isPaused } = newBreaker()
  breaker.begin()(down)
  expect(isPaused()).toBe(true)
  clock.now = 29_999
  expect(isPaused()).toBe(true)
  clock.now = 30_000
  const trial = breaker.begin()
  expect(isPaused()).toBe(true)
  trial()
  expect(isPaused()).toBe(false)
  const [one, other] = [breaker.begin(), breaker.begin()]
  one()
  other()
})

test('each trial that fails doubles the pause, up to five minutes', () => {
  const { breaker, clock, isPaused } = newBreaker()
  for (const pause of [30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
    breaker.begin()(down)
    clock.now += pause - 1
    expect(isPaused()).toBe(true)
    clock.now += 1
  }
  breaker.begin()()
  breaker.begin()(down)
  clock.now += 30_000
  expect(isPaused()).toBe(false)
})

test('many that fail at once are one failure, and a trial that is left is followed by another', () => {
  const { breaker, clock, isPaused } = newBreaker()
  for (const end of Array.from({ length: 20 }, () => breaker.begin())) end(down)
  clock.now = 30_000
  breaker.begin()(new Error('The reader has left.'))
  expect(isPaused()).toBe(false)
  breaker.begin()()
})

test('one request too many of a busy minute pauses nobody, three in a row do, and an empty purse does at once', () => {
  const { breaker, isPaused } = newBreaker()
  const tooMany = new Error('failed', { cause: Object.assign(new Error(), { status: 429 }) })
  for (const error of [tooMany, tooMany, undefined, tooMany, tooMany]) breaker.begin()(error)
  expect(isPaused()).toBe(false)
  breaker.begin()(tooMany)
  expect(isPaused()).toBe(true)

  const poor = newBreaker()
  poor.breaker.begin()(Object.assign(new Error(), { status: 429, code: 'insufficient_quota' }))
  expect(poor.isPaused()).toBe(true)
})

test.each([
  ['silence', down, true],
  ['a connection that fails', new TypeError('fetch failed'), true],
  ['no answer', Object.assign(new Error('Connection error.'), { status: undefined }), true],
  ['500', Object.assign(new Error(), { status: 500 }), true],
  ['a wrong key', Object.assign(new Error(), { status: 401 }), true],
  ['too many requests, wrapped', new Error('failed', { cause: Object.assign(new Error(), { status: 429 }) }), true],
  ['a request that it does not like', Object.assign(new Error(), { status: 400 }), false],
  ['an answer in another form', new SyntaxError('Unexpected token'), false],
  ['a stop', 'stopping', false],
])('%s: an outage? %s', (_, error, is) => {
  expect(isOutage(error)).toBe(is)
})
