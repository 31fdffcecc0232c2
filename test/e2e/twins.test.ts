import { test } from 'vitest'
import { expectTwinsAlike } from './twin-answers.ts'

test(
  'twins that differ only in what is hidden answer alike, with minisearch',
  () => expectTwinsAlike('minisearch'),
  300_000,
)
