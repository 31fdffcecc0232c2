import fc from 'fast-check'

const { PROPERTY_CASES, PROPERTY_SEED } = process.env
const isLong = PROPERTY_CASES === 'all'

/**
 * The same cases in each run, so that the same tree has the same verdict. `PROPERTY_SEED=random` draws others, a number
 * those of that seed.
 */
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED ?? 1) })

const surrogates = { first: 0xd800, count: 0x800 }

/**
 * Any character that is no half of one: a unit for `fc.string`, which draws what its own unit `binary` does. For that one fast-check
 * makes a map of all million characters in each worker.
 */
export const anyCharacter = fc.nat({ max: 0x10ffff - surrogates.count }).map(
  (index) => String.fromCodePoint(index < surrogates.first ? index : index + surrogates.count),
  (character) => {
    const code = typeof character === 'string' ? character.codePointAt(0) : undefined
    if (code === undefined || String.fromCodePoint(code) !== character) throw new Error('not one character')
    return code < surrogates.first ? code : code - surrogates.count
  },
)

/** Returns the number of cases of a property test: all of them only in the long form, `PROPERTY_CASES=all`. */
export function runs(all: number, some = 200): number {
  return isLong ? all : Math.min(all, some)
}

/** Returns some of the cases, different ones in each run, which `PROPERTY_SEED` repeats; in the long form, all. */
export function someOf<Of>(all: readonly Of[], count: number): Of[] {
  if (isLong) return [...all]
  const seed = Number(PROPERTY_SEED) || Math.floor(Math.random() * 2 ** 31)
  console.info(`${count} of ${all.length} cases, by PROPERTY_SEED=${seed}`)
  return fc.sample(fc.shuffledSubarray([...all], { minLength: count, maxLength: count }), { seed, numRuns: 1 })[0] ?? []
}

export { fc }
