import { join } from "node:path";
import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";

const DESKTOP = { width: 1000, height: 1000 };
const PHONE = { width: 390, height: 780 };
const IMAGES = join(import.meta.dirname, "../../docs/images");

/** A person with a browser. */
export class Person {
  readonly page: Page;
  /** Script errors and policy violations in the browser. */
  readonly complaints: readonly string[];

  private constructor(page: Page) {
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (/content security policy|trusted/i.test(message.text())) complaints.push(message.text());
    });
    this.page = page;
    this.complaints = complaints;
  }

  /** Opens a browser with the size of a screen or of a phone, whose reader prefers a language. */
  static async sitDown(
    browser: Browser,
    device: "desktop" | "phone" = "desktop",
    locale = "en-GB",
  ): Promise<Person> {
    const isPhone = device === "phone";
    const options: BrowserContextOptions = {
      viewport: isPhone ? PHONE : DESKTOP,
      deviceScaleFactor: isPhone ? 2 : 1,
      hasTouch: isPhone,
      locale,
      timezoneId: "UTC",
      colorScheme: "light",
    };
    const context = await browser.newContext(options);
    return new Person(await context.newPage());
  }

  /** Opens an address, and signs in if the page asks for it. */
  async signIn(address: string, token: string): Promise<void> {
    await this.page.goto(address);
    await this.giveToken(token);
  }

  async giveToken(token: string): Promise<void> {
    await this.page.getByLabel("Access token").fill(token);
    await this.page.getByRole("button", { name: "Continue" }).click();
  }

  /** Sends a message in the chat. */
  async ask(question: string): Promise<void> {
    await this.page.getByRole("textbox", { name: "Message" }).fill(question);
    await this.page.keyboard.press("Enter");
  }

  /** Sends a message after the last answer has ended. Returns the id of the new run. */
  async start(question: string): Promise<string> {
    await this.page.getByRole("button", { name: /stop/i }).waitFor({ state: "hidden" });
    const answered = this.page.waitForResponse((response) => response.url().endsWith("/v1/chat"));
    await this.ask(question);
    return (await answered).headers()["x-run-id"] ?? "none";
  }

  /** The approval that the page shows; in a chat, the latest. */
  get card(): Locator {
    return this.page.getByRole("dialog").last();
  }

  button(name: string | RegExp): Locator {
    return this.card.getByRole("button", { name });
  }

  /** Waits until the approval shows this text. */
  async sees(text: string | RegExp): Promise<void> {
    await this.card.getByText(text).first().waitFor();
  }

  /** Waits until the page shows this text. */
  async reads(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor();
  }

  /** Opens an approval of the queue. */
  async open(title: string | RegExp): Promise<void> {
    await this.page
      .getByRole("list", { name: "Approvals" })
      .getByRole("button", { name: title })
      .click();
    await this.card.waitFor();
  }

  /** Approves a critical call by typing the name of its tool. Returns the HTTP status. */
  async approveCritical(toolId: string): Promise<number> {
    await this.card.getByLabel(`Type ${toolId} to approve`).fill(toolId);
    return this.decide("Approve");
  }

  /** Presses a button that sends a decision. Returns the HTTP status. */
  async decide(button: string): Promise<number> {
    const answered = this.page.waitForResponse((response) => response.url().endsWith("/decisions"));
    await this.button(button).click();
    return (await answered).status();
  }

  picture(name: string): Promise<void> {
    return takePicture(this.page, name);
  }
}

/** Takes a picture for the documents if `SCREENSHOTS` is set. */
export async function takePicture(page: Page, name: string): Promise<void> {
  if (!process.env["SCREENSHOTS"]) return;
  await page.screenshot({ path: join(IMAGES, `${name}.png`), animations: "disabled" });
}
