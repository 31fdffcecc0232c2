import { existsSync } from 'node:fs'
import { generatePages, type Page, type Query, queriesOf } from './peers/pages.ts'
import { endWithThisProcess, loadWiki } from './peers/running-wiki.ts'
import { dokuwiki, fossil, ganglion, gitit, type Sent } from './peers/wikis.ts'
import { noteAim } from './support/aims.ts'
import { summary } from './support/measure.ts'

/** `PEERS_ROUNDS=2` for a shorter run. A longer round before them warms the servers up. */
const rounds = Math.min(5, Number(process.env.PEERS_ROUNDS ?? 5))
/** Milliseconds of CPU after which the requests of a job end. Edits get more, since the work after the last answer is shared by all. */
const budgets = { warmUp: 1_500, round: 300, edits: 1_000 }
/** Pages of a round: other rounds neither read nor edit them. */
const perRound = 330
const versions = 101
const together = 20

/** A row of the table. It has an aim if it has a note. `equals`: the peers that do the same work, if not all do. */
type Job = { unit: 's' | 'ms' | 'KB' | 'MB' | 'of 20'; note?: string; equals?: readonly string[] }
const searching = 'Fossil misses hits; gitit has no index'
const editing = {
  equals: ['Fossil'],
  note: 'DokuWiki and gitit do not flush; Ganglion alone checks and records a decision',
}
const jobs = {
  'loading 2,000 pages': {
    unit: 's',
    equals: ['DokuWiki', 'Fossil'],
    note: 'gitit has no index; Fossil flushes each page',
  },
  'start, until a page is served': { unit: 'ms' },
  'page as HTML, first': { unit: 'ms', note: 'Ganglion alone asks who is signed in' },
  'page as HTML, again': { unit: 'ms', note: 'the same' },
  'page as data, again': { unit: 'ms', note: 'Ganglion adds links, backlinks and rights' },
  backlinks: { unit: 'ms', note: 'Ganglion gives the page, too; Fossil and gitit have none' },
  'search, one word': { unit: 'ms', note: `${searching}; DokuWiki knows no forms of a word` },
  'search, two words': { unit: 'ms', note: 'the same' },
  'search page as HTML': { unit: 'ms', note: searching },
  'one edit saved': { unit: 'ms', ...editing },
  'an edit of 20 at once': { unit: 'ms', equals: ['Fossil'], note: 'CPU of all 20 for each that is not refused' },
  'edits refused of 20 at once': { unit: 'of 20' },
  'history of 101 versions': {
    ...{ unit: 'ms', equals: ['Fossil', 'gitit'] },
    note: 'DokuWiki keeps one version a second, and shows 20; Ganglion shows 50, the others 100',
  },
  memory: { unit: 'MB' },
  'written by an edit': { unit: 'KB' },
  'written by the loading': { unit: 'MB' },
} satisfies Record<string, Job>
type JobName = keyof typeof jobs

type Loaded = Awaited<ReturnType<typeof loadWiki>>
type Server = Awaited<ReturnType<Loaded['serve']>>
type Tally = { exact: number; less: number; more: number }
type Entrant = Loaded & { figures: Map<JobName, number[]>; tallies: Record<'one' | 'two', Tally> }
type Material = { pages: readonly Page[]; one: readonly Query[]; two: readonly Query[] }

/**
 * Measures Ganglion and the wikis that a user would pick instead, each from its Debian package, on the same pages: CPU of the server's whole
 * process tree. Wikis that are not installed are left out. `npm run bench peers fossil` compares with one of them.
 */
export async function benchPeers(words: readonly string[]): Promise<string[]> {
  endWithThisProcess()
  const pages = generatePages(2_000)
  const material = { pages, ...queriesOf(pages) }
  const entrants: Entrant[] = []
  const lines: string[] = []
  for (const make of [ganglion, dokuwiki, fossil, gitit]) {
    const { name, packages, needs } = make('', 0)
    if (words.length > 0 && make !== ganglion && !words.includes(name.toLowerCase())) continue
    if (!needs.every((path) => existsSync(path))) {
      lines.push(`${name} is left out. To compare it: \`apt-get install --no-install-recommends ${packages}\`.`)
      continue
    }
    const tallies = { one: { exact: 0, less: 0, more: 0 }, two: { exact: 0, less: 0, more: 0 } }
    const entrant = { ...(await loadWiki(make, pages)), figures: new Map(), tallies }
    tell(entrant, 'loading 2,000 pages', entrant.loading.cpu / 1000)
    tell(entrant, 'written by the loading', entrant.loading.written / 1e6)
    entrants.push(entrant)
  }
  for (let round = 0; round < rounds; round++) {
    for (const entrant of entrants) {
      const server = await entrant.serve()
      tell(entrant, 'start, until a page is served', server.starting.served)
      await server.stop()
    }
  }
  const servers = new Map<Entrant, Server>()
  for (const entrant of entrants) servers.set(entrant, await entrant.serve())
  for (let round = 0; round <= rounds; round++) {
    // The order alternates, since the load of the machine changes by the minute.
    for (const [entrant, server] of round % 2 === 0 ? servers : [...servers].reverse()) {
      await measureRound(entrant, server, round, material)
    }
  }
  for (const server of servers.values()) await server.stop()
  return [...lines, ...tableOf(entrants)]
}

function tell({ wiki, figures }: Entrant, job: JobName, value: number): void {
  figures.set(job, [...(figures.get(job) ?? []), value])
  console.error(`${wiki.name}: ${job}: ${value.toFixed(2)} ${jobs[job].unit}`)
}

async function measureRound(entrant: Entrant, server: Server, round: number, { pages, one, two }: Material) {
  const { wiki, tallies } = entrant
  const { send } = server
  const budget = round === 0 ? budgets.warmUp : budgets.round
  const note = (job: JobName, value: number) => {
    if (round > 0) tell(entrant, job, value)
  }
  const own = pages.slice(round * perRound, (round + 1) * perRound)
  const at = <Item>(list: readonly Item[], n: number): Item => {
    const item = list.at(n % list.length)
    if (item === undefined) throw new Error('there are no items')
    return item
  }
  const get = async (sent: Sent, text = '') => {
    const { status, body } = await send(sent)
    if (status !== 200 || !body.includes(text)) throw new Error(`${wiki.name}: ${sent.path}: ${status} ${body}`)
    return body
  }
  const measure = async (job: JobName, most: number, sentFor: (n: number) => Sent, text = '') =>
    note(job, (await server.cost(most, budget, (n) => get(sentFor(n), text))).cpu)
  const edit = async (page: Page, n: number) =>
    await wiki.save(send, page, `${page.write(wiki.markup)}\nEdit ${n} of round ${round}.\n`)

  await measure('page as HTML, first', 120, (n) => wiki.html(at(own, n)), 'See ')
  for (const page of own.slice(0, 30)) await get(wiki.html(page))
  await measure('page as HTML, again', 1_000, (n) => wiki.html(at(own, n % 30)))
  for (const page of own.slice(120, 150)) await get(wiki.data(page), 'See ')
  await measure('page as data, again', 1_000, (n) => wiki.data(at(own, 120 + (n % 30))))
  const { backlinks } = wiki
  if (backlinks !== undefined) await measure('backlinks', 100, (n) => backlinks(at(own, 100 + n)))

  const search = async (queries: readonly Query[], tally: Tally) => {
    const asked = async (n: number) => {
      const { words, titles } = at(queries, round * 100 + n)
      const found = new Set(wiki.found(await get(wiki.search(words))).map(nameOf))
      const lacksHits = titles.some((title) => !found.has(nameOf(title)))
      tally[lacksHits ? 'less' : found.size > titles.length ? 'more' : 'exact']++
    }
    return (await server.cost(100, budget, asked)).cpu
  }
  note('search, one word', await search(one, tallies.one))
  note('search, two words', await search(two, tallies.two))
  await measure('search page as HTML', 80, (n) => wiki.searchHtml(at(two, -1 - round * 80 - n).words))

  const edited = await server.cost(60, Math.max(budget, budgets.edits), async (n) => {
    if (!(await edit(at(own, 200 + n), n))) throw new Error(`${wiki.name}: an edit is not saved`)
  })
  note('one edit saved', edited.cpu)
  note('written by an edit', edited.written / 1024)
  const atOnce = await server.measure(() => Promise.all(own.slice(270, 270 + together).map(edit)))
  const saved = atOnce.result.filter((isSaved) => isSaved).length
  note('an edit of 20 at once', atOnce.cpu / saved)
  note('edits refused of 20 at once', together - saved)
  const long = at(pages, -1)
  if (round === 0) for (let n = 1; n < versions; n++) await edit(long, n)
  await measure('history of 101 versions', 100, () => wiki.history(long))
  note('memory', server.memory())
}

/** DokuWiki answers with ids, the others with titles. */
function nameOf(title = ''): string {
  return title.toLowerCase().replaceAll(' ', '_')
}

function tableOf([ours, ...peers]: readonly Entrant[]): string[] {
  if (ours === undefined) return []
  const all = [ours, ...peers]
  const row = (...cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const median = ({ figures }: Entrant, job: JobName) => summary(figures.get(job) ?? [Number.NaN]).median
  const rows = Object.entries(jobs).map(([name, { unit, note, equals }]: [string, Job]) => {
    const job = name as JobName
    const cells = all.map(({ figures }) => tellValues(figures.get(job) ?? []))
    const rivals = peers.filter(({ wiki, figures }) => figures.has(job) && (equals?.includes(wiki.name) ?? true))
    const [best] = rivals.toSorted((a, b) => median(a, job) - median(b, job))
    if (best === undefined || note === undefined) return row(`${job}, ${unit}`, ...cells, '', '', note ?? '')
    const ratio = median(ours, job) / median(best, job)
    const aim = noteAim(`peers: ${job}`, ratio, { atMost: 1 }, `× ${best.wiki.name}`)
    return row(`${job}, ${unit}`, ...cells, `${ratio.toFixed(2)}×`, aim, note)
  })
  const hits = (['one', 'two'] as const).map((kind) => {
    const cells = all.map(({ tallies: { [kind]: tally } }) => `${tally.exact}, ${tally.less}, ${tally.more}`)
    return row(
      `search, ${kind} ${kind === 'one' ? 'word' : 'words'}: answers exact, with less, with more`,
      ...cells,
      '',
      '',
      'more: other forms or parts of words',
    )
  })
  const head = [
    'CPU or other cost: median (min–max)',
    ...all.map(({ wiki }) => wiki.name),
    'ratio',
    'aim',
    'unequal work',
  ]
  return [row(...head), row(...head.map(() => '---')), ...rows, ...hits]
}

function tellValues(values: readonly number[]): string {
  if (values.length === 0) return '–'
  const { min, median, max } = summary(values)
  return values.length === 1 ? short(median) : `${short(median)} (${short(min)}–${short(max)})`
}

function short(value: number): string {
  return value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2)
}
