import type { Analyser } from '../../search/text/analyser.ts'

/**
 * English words that questions about how things work use interchangeably. General language only: words of a trade or a product
 * belong to the knowledge base's own synonyms. `a, b` works in both directions; words after a colon are found for the words
 * before it, but not the reverse.
 */
const synonymGroups = `
enable, turn on, switch on, activate; disable, turn off, switch off, deactivate: disabled; remove, delete, uninstall, get rid of, discard, erase, drop;
install, set up, setup; create, make, generate; add, insert, append; change, edit, modify, alter, adjust, customise; configure, customise, set;
show, display, view; see: show, display, view, find; store, keep, save, retain, hold; stop, end, quit, exit; start, launch, run, begin;
start, found, initiate; need, require, must: mandatory, necessary; optional: need; write, develop, create, author; maintain, look after;
pay, fund, sponsor, finance; cost, price, fee: free; biggest, largest, maximum, max, limit, up to, at most; smallest, minimum, min, at least;
big, large: size, maximum, limit; long: duration, period; slow: slow down, performance; slow down: increase, impact; fast, quick;
move, migrate, import; migrate, convert, import; send, forward; get, receive, obtain; fix, repair, recover, restore, resolve; fix, solve, correct;
damaged, corrupted, broken; check, verify, validate, test; update, upgrade; allow, permit, let; forbid, deny, prohibit, block; share, collaborate;
protect, secure; copy, duplicate; back up, backup; notice, detect, recognise; win, take precedence, override; named, called; folder, directory;
picture, image, photo; phone, mobile, smartphone; laptop, computer; website, site; command line, cli, terminal, shell; problem, issue, error;
person, people, user; company, organisation, sponsor; difference, differ, compare; default: by default, out of the box;
allowed, possible, permitted; supported, support, compatible; happen, occur; choose, select, pick; find out, determine; log in, login, sign in;
username, user name; exist, there are; automatic, automatically, by itself; dev, development; config, configuration; repo, repository;
app, application; docs, documentation; db, database; info, information; admin, administrator; auth, authentication; env, environment; dir, directory;
build, built; write, wrote, written; keep, kept; send, sent; choose, chose, chosen; break, broke, broken; begin, began, begun; hold, held;
lose, lost; pay, paid; give, gave, given; take, took, taken; show, shown; see, saw, seen; speak, spoke, spoken; run, ran; leave, left;
buy, bought; sell, sold; hide, hidden; throw, threw, thrown; mean, meant; go, went, gone; make, made; forget, forgot, forgotten;
steal, stole, stolen; big, bigger, biggest; large, larger, largest; small, smaller, smallest; long, longer, longest; short, shorter, shortest;
high, higher, highest; low, lower, lowest; fast, faster, fastest; slow, slower, slowest; old, older, oldest; new, newer, newest;
late, later, latest`

/** Equivalent terms and phrases, by term or phrase. */
export type Equivalents = ReadonlyMap<string, readonly string[]>

const byAnalyser = new WeakMap<Analyser, Equivalents>()

/** Returns the equivalents of English words, by the terms of an analyser. */
export function wordGroups(analyser: Analyser): Equivalents {
  const known = byAnalyser.get(analyser) ?? equivalents(synonymGroups.split(';').map(readGroup), analyser)
  byAnalyser.set(analyser, known)
  return known
}

function readGroup(line: string): Group {
  const [both = '', more] = line.split(':')
  return { both: both.split(','), more: more?.split(',') }
}

type Group = { both: readonly string[]; more?: readonly string[] | undefined }

/** Returns the equivalents of groups of texts: those in `both` find each other and those in `more`, which find nothing. */
export function equivalents(groups: readonly Group[], analyser: Analyser): Equivalents {
  const others = new Map<string, Set<string>>()
  // A compound such as `GlobalProtect` is also one term.
  const phrases = (texts: readonly string[]) =>
    texts.flatMap((text) => {
      const tokens = analyser.tokens(text)
      return tokens.length === 0 ? [] : [tokens.map(({ term }) => term).join(' '), ...(tokens[0]?.also ?? [])]
    })
  for (const { both, more = [] } of groups) {
    const members = phrases(both)
    for (const one of members) {
      const set = others.get(one) ?? new Set()
      for (const other of [...members, ...phrases(more)]) if (other !== one) set.add(other)
      others.set(one, set)
    }
  }
  return new Map([...others].map(([one, set]) => [one, [...set]]))
}
