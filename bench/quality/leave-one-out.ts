import type { QueryQuality } from './evaluate.ts'
import { mean } from './metrics.ts'
import { randomisationTest } from './randomisation-test.ts'

/** The quality of every query of one collection under every setting, by the setting's name. */
export type Measured = { name: string; settings: ReadonlyMap<string, readonly QueryQuality[]> }

/** A figure under the baseline and the chosen setting, and the p-value of the difference. */
export type Compared = { baseline: number; chosen: number; p: number }

export type LeftOut = { name: string; setting: string; ndcg10: Compared; recall100: Compared }

type Figure = 'ndcg10' | 'recall100'

/**
 * Leave-one-collection-out cross-validation: the setting for each collection is the one with the highest mean nDCG@10 on all others,
 * so that a collection says nothing about how it is ranked itself.
 * @param baseline the setting to compare with, which can be chosen too
 */
export function leaveOneOut(
  collections: readonly Measured[],
  baseline: string,
): { folds: LeftOut[]; overall: Omit<LeftOut, 'name'> } {
  const folds = collections.map((left) => {
    const setting = bestSetting(collections.filter((other) => other !== left))
    const pair = [{ collection: left, setting }]
    return { name: left.name, setting, ndcg10: compare(pair, 'ndcg10'), recall100: compare(pair, 'recall100') }
  })
  const pairs = collections.map((collection, index) => ({ collection, setting: folds[index]?.setting ?? baseline }))
  const overall = {
    setting: bestSetting(collections),
    ndcg10: compare(pairs, 'ndcg10'),
    recall100: compare(pairs, 'recall100'),
  }
  return { folds, overall }

  function compare(pairs: readonly { collection: Measured; setting: string }[], figure: Figure): Compared {
    const before = pairs.map(({ collection }) => values(collection, baseline, figure))
    const after = pairs.map(({ collection, setting }) => values(collection, setting, figure))
    const differences = after.map((ofOne, i) => ofOne.map((value, query) => value - (before[i]?.[query] ?? 0)))
    return {
      baseline: mean(before.map(mean)),
      chosen: mean(after.map(mean)),
      p: randomisationTest(differences),
    }
  }
}

/** Returns the setting with the highest mean of the collections' nDCG@10; of equal ones the first. */
function bestSetting(collections: readonly Measured[]): string {
  const settings = [...(collections[0]?.settings.keys() ?? [])]
  const score = (setting: string) => mean(collections.map((one) => mean(values(one, setting, 'ndcg10'))))
  return settings.reduce((best, setting) => (score(setting) > score(best) ? setting : best))
}

function values({ name, settings }: Measured, setting: string, figure: Figure): number[] {
  const queries = settings.get(setting)
  if (queries === undefined) throw new Error(`${name} was not measured with ${setting}.`)
  return queries.map((query) => query[figure])
}
