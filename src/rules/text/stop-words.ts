import { createRequire } from 'node:module'
import { fold } from './fold.ts'

const require = createRequire(import.meta.url)

/** Names of the package's lists, by BCP 47 language. */
const lists: Readonly<Record<string, string>> = {
  af: 'afr',
  ar: 'ara',
  bg: 'bul',
  bn: 'ben',
  br: 'bre',
  ca: 'cat',
  cs: 'ces',
  da: 'dan',
  de: 'deu',
  el: 'ell',
  en: 'eng',
  eo: 'epo',
  es: 'spa',
  et: 'est',
  eu: 'eus',
  fa: 'fas',
  fi: 'fin',
  fr: 'fra',
  ga: 'gle',
  gl: 'glg',
  gu: 'guj',
  ha: 'hau',
  he: 'heb',
  hi: 'hin',
  hr: 'hrv',
  hu: 'hun',
  hy: 'hye',
  id: 'ind',
  it: 'ita',
  ja: 'jpn',
  ko: 'kor',
  ku: 'kur',
  la: 'lat',
  lg: 'lgg',
  lt: 'lit',
  lv: 'lav',
  mr: 'mar',
  ms: 'msa',
  my: 'mya',
  nb: 'nob',
  nl: 'nld',
  nn: 'nob',
  no: 'nob',
  pl: 'pol',
  pt: 'por',
  ro: 'ron',
  ru: 'rus',
  sk: 'slk',
  sl: 'slv',
  so: 'som',
  st: 'sot',
  sv: 'swe',
  sw: 'swa',
  th: 'tha',
  tl: 'tgl',
  tr: 'tur',
  uk: 'ukr',
  ur: 'urd',
  vi: 'vie',
  yo: 'yor',
  zh: 'zho',
  zu: 'zul',
}

/** Words in the package's lists that people search for, and that are therefore no stop words here. */
const sought: Readonly<Record<string, string>> = {
  de: `beispiel bekannt ende erst ernst gott jahr jahre jahren lang lange leicht mahn mann mensch menschen mittel morgen offen
    ordnung recht rechte rechten rechter rechtes sache schlecht schluss startseite suche tag tage tagen teil tritt uhr wissen
    zeit`,
  en: 'come came get got like make over said same still take under way well',
  ko: '시간 시각 년도 월 일 소인 아이',
}

/** Function words and contractions that the package's lists lack. */
const missing: Readonly<Record<string, string>> = {
  en: `does doing did done having were will shall cannot nor not no than whom whose why when yours ours theirs hers its she
    itself myself ourselves themselves yourself herself me per via
    i'm you're he's she's it's we're they're i've you've we've they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll
    it'll we'll they'll isn't aren't wasn't weren't hasn't haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't
    couldn't mustn't mightn't needn't let's that's who's what's here's there's when's where's why's how's`,
}

export function stopWordsFor(language: string): ReadonlySet<string> {
  const words = new Set(load()[lists[language] ?? '']?.map(fold))
  for (const word of wordsOf(sought[language])) words.delete(word)
  for (const word of wordsOf(missing[language])) words.add(word)
  return words
}

/** Loads the package at first use, because it has the lists of all languages in one file. */
function load(): typeof import('stopword') {
  return require('stopword')
}

function wordsOf(list: string | undefined): string[] {
  return list === undefined ? [] : list.trim().split(/\s+/).map(fold)
}
