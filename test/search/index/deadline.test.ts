import { expect, test } from 'vitest'
import { Deadline } from '../../../src/search/index/deadline.ts'
import { SearchTimeout } from '../../../src/search/search-index.ts'

function clockAt() {
  const at = { now: 1000, cpu: 70 }
  return { at, now: () => at.now, cpu: () => at.cpu }
}

test('bounds the CPU time of a query and not how long it waits for its turn', () => {
  const clock = clockAt()
  const deadline = new Deadline(250, clock)
  clock.at.now += 2000
  clock.at.cpu += 200
  expect(() => deadline.check()).not.toThrow()
  clock.at.now += 51
  clock.at.cpu += 51
  expect(() => deadline.check()).toThrow(SearchTimeout)
})

test('ends a query that takes ten times as long by the clock', () => {
  const clock = clockAt()
  const deadline = new Deadline(250, clock)
  clock.at.now += 2500
  expect(() => deadline.check()).not.toThrow()
  clock.at.now += 1
  expect(() => deadline.check()).toThrow(SearchTimeout)
})

test('gives a part of a query half of the time that is left', () => {
  const clock = clockAt()
  const deadline = new Deadline(250, clock)
  clock.at.now += 100
  clock.at.cpu += 100
  const part = deadline.half()
  clock.at.now += 75
  clock.at.cpu += 75
  expect(() => part.check()).not.toThrow()
  clock.at.now += 1
  clock.at.cpu += 1
  expect(() => part.check()).toThrow(SearchTimeout)
  expect(() => deadline.check()).not.toThrow()
})

test('gives a part of a query that is over no time at all', () => {
  const clock = clockAt()
  const deadline = new Deadline(250, clock)
  clock.at.now += 300
  clock.at.cpu += 300
  const part = deadline.half()
  clock.at.now += 1
  clock.at.cpu += 1
  expect(() => part.check()).toThrow(SearchTimeout)
})
