import { seeded } from '../support/seeded.ts'

export type Markup = {
  heading: (text: string) => string
  item: (text: string) => string
  link: (title: string) => string
}
/** Generated page of 1.2 KB with three links, the same in the markup of each product. */
export type Page = { title: string; write: (markup: Markup) => string }
/** Words, with the titles of the pages that hold all of them. */
export type Query = { words: string; titles: readonly string[] }

const syllables = 'ka lo mi ren to vek ab in or da pe zu ti na gra fol ber con dit mak bo tu ri'.split(' ')
const plain: Markup = { heading: (text) => text, item: (text) => text, link: (title) => title }

/** Makes pages from a seed: the same on every machine. */
export function generatePages(count: number): Page[] {
  const random = seeded(42)
  const pick = (size: number) => Math.floor(random() * size)
  const newWord = () => Array.from({ length: 2 + pick(3) }, () => syllables[pick(syllables.length)]).join('')
  const words = [...new Set(Array.from({ length: 9_000 }, newWord))]
  // Zipf: the rank of a word is as likely as its inverse.
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? 'a'
  const phrase = (length: number) => Array.from({ length }, word).join(' ')
  const sentence = (length: number) => capital(phrase(length))
  const titles = Array.from({ length: count }, (_, n) => `${sentence(2)} ${n}`)
  const paragraph = () => Array.from({ length: 3 }, () => `${sentence(8 + pick(8))}.`).join(' ')
  return titles.map((title) => {
    const paragraphs = Array.from({ length: 5 }, paragraph)
    const links = Array.from({ length: 3 }, () => titles[Math.floor(count * random() ** 2)] ?? '')
    const [headings, items] = [
      [sentence(3), sentence(3)],
      [phrase(5), phrase(5), phrase(5)],
    ]
    const write = ({ heading, item, link }: Markup) => {
      const [first, second, third, fourth, fifth] = paragraphs
      const [before, after] = headings.map(heading)
      const [one, two, three] = links.map((target) => `See ${link(target)}.`)
      const list = items.map(item).join('\n')
      const blocks = [first, before, `${second} ${one}`, `${third} ${two}`, after, fourth, list, `${fifth} ${three}`]
      return `${blocks.join('\n\n')}\n`
    }
    return { title, write }
  })
}

/** Returns queries of one word that 4 to 40 pages hold, and of two words that up to 50 pages hold together. */
export function queriesOf(pages: readonly Page[]): { one: Query[]; two: Query[] } {
  const titlesBy = new Map<string, Set<string>>()
  const pairs: string[][] = []
  for (const { title, write } of pages) {
    const words = new Set(`${title} ${write(plain)}`.toLowerCase().match(/[a-z]{6,}/g))
    for (const word of words) titlesBy.set(word, (titlesBy.get(word) ?? new Set()).add(title))
    pairs.push([...words].slice(2, 5))
  }
  const titlesOf = (word = '') => titlesBy.get(word) ?? new Set<string>()
  const one = [...titlesBy].map(([words, titles]) => ({ words, titles: [...titles] }))
  const two = pairs.map(([first, , second]) => ({
    words: `${first} ${second}`,
    titles: [...titlesOf(first).intersection(titlesOf(second))],
  }))
  return {
    one: one.filter(({ titles }) => titles.length >= 4 && titles.length <= 40),
    two: two.filter(({ titles }) => titles.length > 0 && titles.length <= 50),
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
