import { fold } from '../../../rules/text/fold.ts'
import { stopWordsFor } from '../../../rules/text/stop-words.ts'

/** Words of titles that do not distinguish documents or sections; folded. */
const genericWords = new Set(
  `abstract added additional agenda annex answer answers appendix article articles author authors background basics begin
  bibliography blog body book box caption category changed changelog changes chapter column columns comment comments company
  conclusion conclusions contact contacts content contents copyright cover customer customers data date dates default
  definition definitions demo description detail details diagram discussion document documents draft edition email end
  example examples exercise exercises external fact facts faq faqs feature features figure figures file files fixed footer
  foreword form forms further general getting glossary group groups header heading headings hello help hi history home image
  images index info information internal intro introduction item items key keys label legal legend letter level levels
  license line lines link links list lists login main manual menu message messages method methodology methods misc
  miscellaneous more motivation name names new news next note notes number numbers object old option options other
  others outline overview page pages part parts people person phase photo picture pictures placeholder point points post preface
  presentation previous product products project projects purpose question questions readme reading reference references related
  release releases remarks removed report reports requirements result results row rows sample scan scope search section sections see
  service setting settings setup sheet slide slides source sources started start status step steps subject subtitle
  summary support system table tables task tasks team template terms test tests text text thanks time title titles todo
  topic topics total type types unknown unreleased untitled update updates usage use user users value values version versions
  video volume welcome work workbook year years
  abbildung abschnitt allgemeines anhang antwort beispiel beispiele beschreibung bild blatt datei definitionen dokument einfuhrung
  einleitung ergebnis ergebnisse fazit folie formular frage fragen grundlagen hallo hinweis hinweise hintergrund inhalt
  inhaltsverzeichnis kapitel kontakt liste literatur seite tabelle teil text titel uberblick ubersicht vorwort willkommen
  zusammenfassung zweck
  annexe bonjour chapitre conclusion contexte exemple feuille figure introduction liste page partie resume sommaire tableau
  anexo capitulo conclusiones contenido ejemplo figura hoja indice introduccion lista pagina parte resumen tabla`.split(
    /\s+/,
  ),
)
const word = /[\p{L}\p{M}]+|\p{N}+/gu
/** Matches signs around a name. Trailing signs match from their first one only, which takes linear time. */
const signsAround = /^[^\p{L}\p{N}]+|(?<=[\p{L}\p{N}])[^\p{L}\p{N}]+$/gu
const numeral = /^(?:\p{N}+|[ivxlcdm]+|\p{L})$/u

/** Matches default names of programs, and labels: `Sheet1`, `Page 3`, `anonymous`, `Chapter IV`. */
const placeholder = new RegExp(
  `^(?:${[
    '(?:sheet|tabelle|feuil|hoja|foglio|blatt|slide|folie|diapo|diapositiv[ae]|layout|page|seite|p\\.|document|dokument|doc|presentation|prasentation|book|workbook|mappe|scan|image|img|figure|untitled|unbenannt|new document|section)[ _-]?\\d*',
    '(?:chapter|part|section|appendix|annex|lesson|unit|volume|book|kapitel|teil|anhang|chapitre|partie|capitulo|parte)\\s+(?:[\\divxlcdm]+|[a-z])',
    'adobe photoshop pdf|(?:microsoft )?powerpoint(?: presentation|-prasentation)?|(?:microsoft )?(?:word|excel)(?: document| worksheet)?|word-dokument',
    '(?:untitled|blank|new|unbenannte[rs]?|leere[rs]?|neue[rs]?) (?:spreadsheet|document|presentation|form|drawing|diagram|design|page|slide|sheet|workbook|seite|folie|blatt|mappe|dokument|prasentation)[ _-]?\\d*',
    '(?:document|presentation|feuille de calcul|classeur) sans (?:titre|nom)[ _-]?\\d*|sin titulo|senza titolo',
    '(?:grand |sub-?|sous-?)?totals?[\\s\\d.,:%€$£-]*|(?:zwischen|gesamt)?summe[\\s\\d.,:%€$£-]*|subtotales?',
    'anonymous|unspecified|unknown|no title|titel|title|title slide|default|template|test|print|about:blank',
  ].join('|')})$`,
  'u',
)

/** Read with the first name, since the lists take some memory. */
let functionWords: readonly ReadonlySet<string>[] | undefined

/** Whether a name says nothing specific: all its words are common in titles, function words, numerals or letters. */
export function isGenericName(name: string): boolean {
  const folded = fold(name)
  if (/[+#@&%$]/.test(folded)) return false
  const words = folded.match(word) ?? []
  return words.every((part) => genericWords.has(part) || numeral.test(part) || isFunctionWord(part))
}

function isFunctionWord(folded: string): boolean {
  functionWords ??= ['en', 'de', 'fr', 'es'].map(stopWordsFor)
  return functionWords.some((stopWords) => stopWords.has(folded))
}

/** Case-folded words of column headers. */
const columnWords = new Set(
  `amount balance city comment comments count country credit date day debit description email hour hours id item items month
  name nr no number phone position price q1 q2 q3 q4 qty quantity region remarks status sum time total type unit units value year
  anzahl bemerkung betrag bezeichnung datum einheit menge ort preis`.split(/\s+/),
)

/** Whether a line is the header of a table. */
function isTableHead(folded: string): boolean {
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? []
  return words.length >= 3 && words.every((part) => columnWords.has(part))
}

const people = String.raw`(?:(?:prof|dr|mr|mrs|ms)\.? )*\p{Lu}[\p{L}.'’-]*(?: (?:(?:van|von|de|der|den|di|da|la|le|el|al|bin) )*\p{Lu}[\p{L}.'’-]*){1,3}[\d*†‡§¹²³⁴-⁹]{0,6}`
const authors = new RegExp(
  String.raw`^(?:(?:by|von|par|por|di) ${people}|${people}(?:(?:[,;&]| and | und | et | y )\s*${people})+)$`,
  'u',
)

/** Whether a line is a list of people or a byline. */
export function isAuthors(line: string): boolean {
  return line.length <= 300 && authors.test(line.trim())
}

export function isPlaceholder(name: string): boolean {
  const folded = fold(name).trim()
  if (isTableHead(folded)) return true
  return /^[^\p{L}]+$/u.test(folded) || placeholder.test(folded.replace(signsAround, ''))
}
