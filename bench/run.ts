import { benchCurve } from './answers/curve.ts'
import { benchAnswers } from './answers/run.ts'
import { benchApprovals } from './approvals.ts'
import { benchCheckout } from './checkout.ts'
import { benchCluster } from './cluster.ts'
import { compareWith } from './compare.ts'
import { benchFollowing } from './following.ts'
import { benchGitDoor } from './git-door.ts'
import { benchGitStart } from './git-start.ts'
import { benchGrowth } from './growth.ts'
import { benchHostile } from './hostile.ts'
import { benchHttp } from './http.ts'
import { benchImport } from './import.ts'
import { benchLinks } from './links.ts'
import { benchMoving } from './moving.ts'
import { benchObjects } from './objects.ts'
import { benchOpening } from './opening.ts'
import { benchPeers } from './peers.ts'
import { benchPending } from './pending.ts'
import { benchTyped } from './quality/typed.ts'
import { benchReview } from './review.ts'
import { benchScale } from './scale.ts'
import { benchSearch } from './search.ts'
import { benchSoak } from './soak.ts'
import { benchStart } from './start.ts'
import { aimsTable } from './support/aims.ts'
import { benchTransport } from './transport.ts'
import { benchVectors } from './vectors.ts'
import { benchWithoutGit } from './without-git.ts'

type Bench = (words: readonly string[]) => Promise<string[]> | string[]

/** Run in this order. */
const ordinary: Record<string, Bench> = {
  start: benchStart,
  approvals: benchApprovals,
  import: benchImport,
  objects: benchObjects,
  opening: benchOpening,
  links: benchLinks,
  following: benchFollowing,
  review: benchReview,
  http: benchHttp,
  'git-start': benchGitStart,
  'git-door': benchGitDoor,
  'without-git': benchWithoutGit,
  transport: benchTransport,
}
/** Run only where they are named: they take long, or read folders. */
const special: Record<string, Bench> = {
  hostile: benchHostile,
  growth: benchGrowth,
  checkout: benchCheckout,
  compare: ([revision, ...parts]) => compareWith(revision ?? 'HEAD', parts),
  search: benchSearch,
  cluster: benchCluster,
  moving: benchMoving,
  scale: benchScale,
  pending: benchPending,
  peers: benchPeers,
  soak: benchSoak,
  answers: benchAnswers,
  'answers-curve': benchCurve,
  typed: benchTyped,
  vectors: benchVectors,
}
const benches = { ...ordinary, ...special }

const words = process.argv.slice(2)
/** `compare` has the other words to itself, since its parts are called as benches are. */
const wanted = words[0] === 'compare' ? ['compare'] : words.filter((word) => word in benches)
/** What a bench is told: `answers DIR…`, `typed DIR…`, `compare REVISION PART…`. */
const rest = words[0] === 'compare' ? words.slice(1) : words.filter((word) => !(word in benches))
const begin = performance.now()
for (const [name, bench] of Object.entries(wanted.length > 0 ? benches : ordinary)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n## ${name}\n`)
  for (const line of await bench(rest)) console.log(line)
}
console.log(`\n## Aims\n`)
for (const line of aimsTable()) console.log(line)
console.log(`\nAll of it took ${Math.round((performance.now() - begin) / 1000)} s.`)
