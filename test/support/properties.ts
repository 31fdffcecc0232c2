import fc from 'fast-check'

const { PROPERTY_SEED } = process.env

/**
 * The same cases in each run, so that the same tree has the same verdict. `PROPERTY_SEED=random` draws others, a number
 * those of that seed.
 */
if (PROPERTY_SEED !== 'random') fc.configureGlobal({ seed: Number(PROPERTY_SEED ?? 1) })

export { fc }
