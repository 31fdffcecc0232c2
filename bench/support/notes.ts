import { seeded } from './seeded.ts'

/**
 * Notes with the statistics of a large public Obsidian vault (sizes, headings, links, code, front matter), made from a seed:
 * the same notes on every machine.
 */
export type GeneratedNote = { path: string; title: string; text: string }

const syllables = 'ka lo mi ren to ves al in or da pe su ti na gra fol ber con dis ment tion ing er al ous'.split(' ')

function vocabulary(random: () => number, size: number): string[] {
  return Array.from({ length: size }, () => {
    const length = 1 + Math.floor(random() * 4)
    return Array.from({ length }, () => syllables[Math.floor(random() * syllables.length)] ?? 'a').join('')
  })
}

export function generateNotes(count: number, seed = 1): GeneratedNote[] {
  const random = seeded(seed)
  const words = vocabulary(random, 8_000)
  // Zipf: the rank of a word is as likely as its inverse.
  const word = () => words[Math.floor(words.length ** random()) - 1] ?? 'a'
  const phrase = (length: number) => Array.from({ length }, word).join(' ')
  const titles = Array.from({ length: count }, (_, n) => `${capital(phrase(1 + Math.floor(random() * 4)))} ${n}`)
  const link = () => {
    const target = titles[Math.floor(count * random() ** 2)] ?? ''
    return random() < 0.2 ? `[[${target}|${word()}]]` : `[[${target}]]`
  }
  const paragraph = () => {
    const sentences = 1 + Math.floor(random() * 5)
    return Array.from({ length: sentences }, () => {
      const inline = random()
      const extra =
        inline < 0.25 ? ` ${link()}` : inline < 0.32 ? ` \`${word()}()\`` : inline < 0.36 ? ` **${word()}**` : ''
      return `${capital(phrase(6 + Math.floor(random() * 14)))}${extra}.`
    }).join(' ')
  }
  const block = () => {
    const kind = random()
    if (kind < 0.14) return `## ${capital(phrase(3))}`
    if (kind < 0.24)
      return Array.from({ length: 4 }, () => `- ${phrase(7)} ${random() < 0.3 ? link() : ''}`.trimEnd()).join('\n')
    if (kind < 0.28) return `\`\`\`ts\nconst ${word()} = ${Math.floor(random() * 99)}\n\`\`\``
    if (kind < 0.3) return `| a | b |\n| - | - |\n| ${phrase(2)} | ${phrase(2)} |`
    return paragraph()
  }
  return titles.map((title, n) => {
    const blocks = Array.from({ length: 1 + Math.floor(random() ** 2 * 14) }, block)
    const tags = random() < 0.5 ? `tags: [${word()}, ${word()}]\n` : ''
    const text = `---\ntitle: ${title}\n${tags}---\n\n${blocks.join('\n\n')}\n`
    return { path: `${words[n % 120] ?? 'misc'}/${title.toLowerCase().replaceAll(' ', '-')}.md`, title, text }
  })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
