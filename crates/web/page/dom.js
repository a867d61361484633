// Making elements, in one place.

/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */
/** @typedef {Node | string | number | null | undefined | false} Child */

/** @param {string} id @returns {HTMLElement} */
export const byId = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
};

/** @param {Element} element @param {Attributes} attributes @param {Child[]} children */
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
};

/**
 * An HTML element; functions among the attributes listen to events.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name @param {Attributes} [attributes] @param {Child[]} children @returns {HTMLElementTagNameMap[K]}
 */
export const html = (name, attributes = {}, ...children) => {
  const element = document.createElement(name);
  fill(element, attributes, children);
  return element;
};

/** @param {string} name @param {Attributes} [attributes] @param {Child[]} children @returns {SVGElement} */
export const svg = (name, attributes = {}, ...children) => {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  fill(element, attributes, children);
  return element;
};

/** @param {string} label @param {() => void} click @param {Attributes} [attributes] */
export const button = (label, click, attributes = {}) => html('button', { type: 'button', click, ...attributes }, label);

/** @param {number | null | undefined} share what was not looked at is not known */
export const percent = (share) => (share === null || share === undefined ? '–' : `${Math.round(share * 100)}\u202f%`);
